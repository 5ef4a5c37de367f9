// Counts of each status within a category, in an object with a field for each.
// expect: same
db.events.mapReduce(
  function () {
    var counts = {};
    if (typeof this.status !== "string") return;
    counts["s_" + this.status] = 1;
    emit(this.cat, counts);
  },
  function (key, values) {
    var total = {};
    values.forEach(function (counts) {
      for (var name in counts) {
        total[name] = (total[name] || 0) + counts[name];
      }
    });
    return total;
  },
  { out: { inline: 1 } }
);
