// Takes a random sample.
// expect: refused random 5
db.events.mapReduce(
  function () {
    if (Math.random() < 0.1) emit(this.cat, 1);
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
