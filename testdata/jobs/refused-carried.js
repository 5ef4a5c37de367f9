// Carries a value from one element to the next.
// expect: refused loop-carried 7
db.orders.mapReduce(
  function () {
    var previous = null;
    for (var i = 0; i < this.items.length; i++) {
      if (previous) emit(previous + this.items[i].sku, 1);
      previous = this.items[i].sku;
    }
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
