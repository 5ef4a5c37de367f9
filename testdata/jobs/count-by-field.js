// How many documents have each value of a field.
// expect: same
db.events.mapReduce(
  function () { emit(this.cat, 1); },
  function (key, values) { return Array.sum(values); },
  { out: "counts" }
);
