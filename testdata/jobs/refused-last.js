// Keeps the last value, in no order.
// expect: refused reduce-order 5
db.events.mapReduce(
  function () { emit(this.cat, this.name); },
  function (key, values) { return values[0]; },
  { out: { inline: 1 } }
);
