// Counts by a field of an embedded document: where that is missing, the job fails.
// expect: guard
db.people.mapReduce(
  function () { emit(this.address.city, 1); },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
