// How long words are, split at white space.
// expect: same
db.articles.mapReduce(
  function () {
    if (typeof this.text !== "string") return;
    this.text.trim().split(/\s+/).forEach(function (word) { emit(word.length, 1); });
  },
  function (key, values) { return Array.sum(values); },
  { out: { inline: 1 } }
);
