// Money in and out: one document, two keys.
// expect: same
db.transfers.mapReduce(
  function () {
    if (typeof this.amount !== "number") return;
    emit(this.user, { in: this.amount, out: 0 });
    if (this.cat == "a" || this.cat === "b") {
      emit(this.cat, { in: 0, out: this.amount });
    }
  },
  function (key, values) {
    var r = { in: 0, out: 0 };
    values.forEach(function (v) { r.in += v.in; r.out += v.out; });
    return r;
  },
  { finalize: function (key, v) { return v.in - v.out; }, out: { inline: 1 } }
);
