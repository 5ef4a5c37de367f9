// First and last date of each user, by comparison.
// expect: same
db.events.mapReduce(
  function () {
    if (this.at instanceof Date) emit(this.user, { first: this.at, last: this.at });
  },
  function (key, values) {
    var r = values[0];
    for (var i = 1; i < values.length; i++) {
      if (values[i].first < r.first) r.first = values[i].first;
      if (values[i].last > r.last) r.last = values[i].last;
    }
    return r;
  },
  { finalize: function (key, v) { return { first: v.first, last: v.last, days: (v.last - v.first) / 86400000 }; }, out: { inline: 1 } }
);
