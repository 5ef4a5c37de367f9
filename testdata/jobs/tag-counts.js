// How often each tag is used.
// expect: guard
function map() {
  if (!this.tags) {
    return;
  }
  for (var i = 0; i < this.tags.length; i++) {
    emit(this.tags[i], 1);
  }
}
function reduce(key, values) {
  var count = 0;
  for (var i in values) {
    count += values[i];
  }
  return count;
}
db.runCommand({ mapReduce: "events", map: map, reduce: reduce, out: { inline: 1 } });
