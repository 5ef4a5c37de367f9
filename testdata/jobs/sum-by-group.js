// Sum of amounts, taking what is no number for zero.
// expect: same
db.events.mapReduce(
  function () {
    var amount = typeof this.amount === "number" && !isNaN(this.amount) ? this.amount : 0;
    emit(this.cat, amount);
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
