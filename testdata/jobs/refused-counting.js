// Counts in a loop over the values.
// expect: refused reduce-counts-values 8
db.events.mapReduce(
  function () { emit(this.cat, { n: 1 }); },
  function (key, values) {
    var n = 0;
    values.forEach(function (v) { n++; });
    return { n: n };
  },
  { out: { inline: 1 } }
);
