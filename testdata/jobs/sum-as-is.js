// Sum of a field as it is: text among the numbers makes the job's own answer depend on chance.
// expect: guard
db.events.mapReduce(
  function () { emit(this.user, this.amount); },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
