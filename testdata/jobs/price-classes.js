// Counts of price classes by a chain of conditions.
// expect: same
db.events.mapReduce(
  function () {
    var a = this.amount, name;
    if (typeof a !== "number") { name = "none"; }
    else if (a < limits.low) { name = "low"; }
    else if (a < limits.high) { name = "middle"; }
    else { name = "high"; }
    emit(name, 1);
  },
  function (key, values) { return Array.sum(values); },
  { scope: { limits: { low: 5, high: 25 } }, out: { inline: 1 } }
);
