// Averages averages.
// expect: refused reduce-counts-values 5
db.events.mapReduce(
  function () { emit(this.cat, this.amount); },
  function (key, values) { return Array.sum(values) / values.length; },
  { out: { inline: 1 } }
);
