// How many users reached each step, as sums of flags.
// expect: same
db.events.mapReduce(
  function () {
    var seen = this.status == "A" || this.status == "B" || this.status == "C" ? 1 : 0;
    var added = this.status == "B" || this.status == "C" ? 1 : 0;
    var bought = this.status == "C" ? 1 : 0;
    emit(this.user, { seen: seen, added: added, bought: bought });
  },
  function (key, values) {
    var r = { seen: 0, added: 0, bought: 0 };
    values.forEach(function (v) {
      r.seen += v.seen;
      r.added += v.added;
      r.bought += v.bought;
    });
    return r;
  },
  {
    finalize: function (key, r) {
      r.rate = r.seen > 0 ? Math.round(100 * r.bought / r.seen) : 0;
      return r;
    },
    out: { inline: 1 }
  }
);
