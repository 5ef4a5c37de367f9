// Depends on the time of its run.
// expect: refused now 5
db.events.mapReduce(
  function () {
    if (this.at > new Date()) emit(this.cat, 1);
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
