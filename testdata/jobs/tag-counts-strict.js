// How often each tag is used, looking only at arrays of strings.
// expect: same
db.events.mapReduce(
  function () {
    if (!Array.isArray(this.tags)) return;
    this.tags.forEach(function (tag) {
      if (typeof tag === "string" && tag !== "") emit(tag, { count: 1 });
    });
  },
  function (key, values) {
    var total = { count: 0 };
    for (const v of values) total.count += v.count;
    return total;
  },
  { out: "tag_counts" }
);
