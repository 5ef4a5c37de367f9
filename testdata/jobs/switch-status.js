// A switch over the status, with weights.
// expect: same
db.events.mapReduce(
  function () {
    var weight;
    switch (this.status) {
      case "A": weight = 3; break;
      case "B":
      case "C": weight = 2; break;
      default: weight = 1;
    }
    emit(this.user, weight);
  },
  function (key, values) { return Array.sum(values); },
  { sort: { _id: 1 }, limit: 500, out: { inline: 1 } }
);
