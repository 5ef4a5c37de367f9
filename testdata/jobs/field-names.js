// How often each field occurs, and with which type.
// expect: same
db.events.mapReduce(
  function () {
    for (var name in this) {
      emit({ field: name, type: typeof this[name] }, 1);
    }
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
