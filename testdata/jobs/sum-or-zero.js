// Sum of price times quantity, with missing ones as zero.
// expect: same
db.events.mapReduce(
  function () { emit(this.status, (this.amount || 0) * (this.qty || 0)); },
  function (key, values) {
    var total = 0;
    for (var i = 0; i < values.length; i++) { total += values[i]; }
    return total;
  },
  { out: { merge: "totals" } }
);
