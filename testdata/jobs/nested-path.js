// Counts by a field of an embedded document that may be missing.
// expect: same
db.people.mapReduce(
  function () {
    var city = this.address && this.address.city || "unknown";
    if (typeof city == "string") emit(city.substring(0, 3), { n: 1 });
  },
  function (key, values) {
    var n = 0;
    for (var i = 0; i < values.length; i++) n += values[i].n;
    return { n: n };
  },
  { out: { inline: 1 } }
);
