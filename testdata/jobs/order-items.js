// Quantity and turnover of each article in nested order items.
// expect: same
db.orders.mapReduce(
  function () {
    if (!Array.isArray(this.items)) return;
    for (var i = 0; i < this.items.length; i++) {
      var item = this.items[i];
      if (!item || typeof item.qty !== "number" || typeof item.price !== "number") continue;
      emit(item.sku, { qty: item.qty, turnover: item.qty * item.price });
    }
  },
  function (key, values) {
    var r = { qty: 0, turnover: 0 };
    for (var i = 0; i < values.length; i++) {
      r.qty += values[i].qty;
      r.turnover += values[i].turnover;
    }
    return r;
  },
  { out: { inline: 1 } }
);
