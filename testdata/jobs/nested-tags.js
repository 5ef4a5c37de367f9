// Tags of the items of orders: a loop in a loop.
// expect: same
db.orders.mapReduce(
  function () {
    if (!Array.isArray(this.items)) return;
    this.items.forEach(function (item) {
      if (!item || !Array.isArray(item.tags)) return;
      item.tags.forEach(function (tag) {
        if (typeof tag === "string") emit({ sku: item.sku || "none", tag: tag }, 1);
      });
    });
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
