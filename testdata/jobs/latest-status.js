// The newest status of each user, in the order of the job's sort.
// expect: same
db.events.mapReduce(
  function () { emit(this.user, { status: this.status, n: 1 }); },
  function (key, values) {
    var r = { status: values[0].status, n: 0 };
    values.forEach(function (v) { r.n += v.n; });
    return r;
  },
  { sort: { _id: -1 }, out: { inline: 1 } }
);
