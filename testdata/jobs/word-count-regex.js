// Words of a text, found by a regular expression.
// expect: same
db.articles.mapReduce(
  function () {
    var words = typeof this.text === "string" ? this.text.match(/[a-z]+/gi) : null;
    if (words) {
      words.forEach(function (w) { emit(w, 1); });
    }
  },
  function (key, values) { return values.reduce(function (a, b) { return a + b; }, 0); },
  { out: { inline: 1 } }
);
