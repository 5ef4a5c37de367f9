// The largest amount of each category, by Math.max.apply.
// expect: same
db.events.mapReduce(
  function () { if (this.amount != null && typeof this.amount == "number") emit(this.cat, this.amount); },
  function (key, values) { return Math.max.apply(null, values); },
  { out: { inline: 1 } }
);
