// Counts the values in reduce: wrong as soon as results are reduced again.
// expect: refused reduce-counts-values 5
db.events.mapReduce(
  function () { emit(this.cat, 1); },
  function (key, values) { return values.length; },
  { out: { inline: 1 } }
);
