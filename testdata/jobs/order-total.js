// Total of each order, then by user.
// expect: same
function lineTotal(item) {
  if (item && typeof item.qty == "number" && typeof item.price == "number") return item.qty * item.price;
  return 0;
}
db.orders.mapReduce(
  function () {
    var total = 0;
    if (Array.isArray(this.items)) {
      for (var i = 0; i < this.items.length; i++) {
        total += line(this.items[i]);
      }
    }
    emit(this.user, { orders: 1, total: total });
  },
  function (key, values) {
    var out = { orders: 0, total: 0 };
    values.forEach(function (v) { out.orders += v.orders; out.total += v.total; });
    return out;
  },
  { scope: { line: lineTotal }, out: { inline: 1 } }
);
