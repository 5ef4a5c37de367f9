// Average by sum and count, divided in finalize.
// expect: same
var map = function () {
  if (typeof this.amount == "number") {
    emit(this.cat, { count: 1, sum: this.amount });
  }
};
var reduce = function (key, values) {
  var result = { count: 0, sum: 0 };
  values.forEach(function (value) {
    result.count += value.count;
    result.sum += value.sum;
  });
  return result;
};
var finalize = function (key, value) {
  value.average = value.sum / value.count;
  return value;
};
db.events.mapReduce(map, reduce, { finalize: finalize, out: { inline: 1 } });
