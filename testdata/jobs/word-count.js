// Words of a text, lower case.
// expect: same
db.articles.mapReduce(
  function () {
    if (typeof this.text != "string") return;
    var words = this.text.toLowerCase().split(" ");
    for (var i = 0; i < words.length; i++) {
      if (words[i].length > 1) emit(words[i], 1);
    }
  },
  function (key, values) { return Array.sum(values); },
  { out: "words" }
);
