// Events of each day and user.
// expect: same
db.events.mapReduce(
  function () {
    if (!(this.at instanceof Date) || typeof this.user !== "string") return;
    var day = this.at.getUTCFullYear() + "-" + (this.at.getUTCMonth() + 1) + "-" + this.at.getUTCDate();
    emit({ day: day, user: this.user }, 1);
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
