// Counts of each weekday and hour in local time.
// expect: same
db.events.mapReduce(
  function () {
    if (!(this.at instanceof Date)) return;
    var names = ["night", "day"];
    emit({ weekday: this.at.getDay(), part: this.at.getHours() < 6 ? names[0] : names[1] }, { n: 1 });
  },
  function (key, values) {
    var n = 0;
    values.forEach(function (v) { n += v.n; });
    return { n: n };
  },
  { out: { inline: 1 } }
);
