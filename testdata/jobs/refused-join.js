// Joins texts in the order of the values.
// expect: refused reduce-order 5
db.events.mapReduce(
  function () { emit(this.cat, this.name); },
  function (key, values) { return values.join(","); },
  { out: { inline: 1 } }
);
