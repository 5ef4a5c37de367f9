// Smallest and largest amount, and when.
// expect: same
db.events.mapReduce(
  function () {
    if (typeof this.amount !== "number" || isNaN(this.amount)) return;
    emit(this.user, { min: this.amount, max: this.amount, n: 1 });
  },
  function (key, values) {
    return values.reduce(function (a, b) {
      return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max), n: a.n + b.n };
    });
  },
  { out: { reduce: "extremes" } }
);
