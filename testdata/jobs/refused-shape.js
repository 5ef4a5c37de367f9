// Reduce returns other fields than map emits.
// expect: refused reduce-shape 8
db.events.mapReduce(
  function () { emit(this.cat, { amount: this.amount }); },
  function (key, values) {
    var total = 0;
    values.forEach(function (v) { total += v.amount; });
    return { total: total };
  },
  { out: { inline: 1 } }
);
