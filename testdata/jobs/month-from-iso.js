// Counts of each month, from the date as text.
// expect: same
db.events.mapReduce(
  function () {
    if (this.at && this.at instanceof Date) emit(this.at.toISOString().substr(0, 7), 1);
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
