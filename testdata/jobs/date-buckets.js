// Amounts of each hour, by rounding the date down.
// expect: same
db.events.mapReduce(
  function () {
    if (!(this.at instanceof Date) || !(this.amount > 0)) return;
    var hour = 3600 * 1000;
    emit(new Date(Math.floor(this.at.getTime() / hour) * hour), Number(this.amount));
  },
  function (key, values) { return Array.sum(values); },
  { query: { amount: { $type: "number" } }, out: { inline: 1 } }
);
