// Average kept up to date within reduce, beside its sum and count.
// expect: same
db.events.mapReduce(
  function () {
    var n = parseFloat(this.qty);
    if (!isNaN(n)) emit(this.cat, { n: 1, sum: n, avg: n });
  },
  function (key, values) {
    var n = 0, sum = 0;
    for (var i in values) {
      n += values[i].n;
      sum += values[i].sum;
    }
    return { n: n, sum: sum, avg: sum / n };
  },
  { query: { qty: { $type: ["number", "string", "null"] } }, out: { inline: 1 } }
);
