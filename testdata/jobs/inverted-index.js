// Which documents a word occurs in.
// expect: same
db.articles.mapReduce(
  function () {
    if (!Array.isArray(this.tags)) return;
    var id = this._id;
    this.tags.forEach(function (tag) {
      if (typeof tag == "string") emit(tag, { docs: [id] });
    });
  },
  function (key, values) {
    var docs = [];
    values.forEach(function (v) { docs = docs.concat(v.docs); });
    return { docs: docs };
  },
  { out: "index" }
);
