// Pipelines people write, and those that write.
globalThis.d = fresh('aggregate');
d.orders.insertMany([
  { _id: 1, who: 'ann', at: ISODate('2024-01-05T10:00:00Z'), lines: [{ sku: 'a', n: 2 }, { sku: 'b', n: 1 }], total: NumberDecimal('12.50') },
  { _id: 2, who: 'bob', at: ISODate('2024-01-20T23:30:00Z'), lines: [{ sku: 'a', n: 5 }], total: NumberDecimal('25.00') },
  { _id: 3, who: 'ann', at: ISODate('2024-02-01T00:00:00Z'), lines: [], total: NumberDecimal('0') },
  { _id: 4, who: null, at: ISODate('2024-02-29T12:00:00Z'), lines: [{ sku: 'c', n: 7 }], total: NumberDecimal('7.00') },
]);
d.skus.insertMany([{ _id: 'a', name: 'apple' }, { _id: 'b', name: 'bread' }]);

step('$group with the usual accumulators', () => {
  same(d.orders.aggregate([
    { $group: { _id: '$who', n: { $sum: 1 }, total: { $sum: '$total' }, avg: { $avg: '$total' }, first: { $first: '$_id' }, all: { $push: '$_id' }, max: { $max: '$at' } } },
    { $sort: { _id: 1 } },
  ]).toArray(), [
    { _id: null, n: 1, total: NumberDecimal('7.00'), avg: NumberDecimal('7.00'), first: 4, all: [4], max: ISODate('2024-02-29T12:00:00Z') },
    { _id: 'ann', n: 2, total: NumberDecimal('12.50'), avg: NumberDecimal('6.25'), first: 1, all: [1, 3], max: ISODate('2024-02-01T00:00:00Z') },
    { _id: 'bob', n: 1, total: NumberDecimal('25.00'), avg: NumberDecimal('25.00'), first: 2, all: [2], max: ISODate('2024-01-20T23:30:00Z') },
  ]);
});

step('$unwind, $lookup, $project', () => {
  same(d.orders.aggregate([
    { $unwind: '$lines' },
    { $lookup: { from: 'skus', localField: 'lines.sku', foreignField: '_id', as: 'sku' } },
    { $project: { n: '$lines.n', name: { $arrayElemAt: ['$sku.name', 0] } } },
  ]).toArray(), [{ _id: 1, n: 2, name: 'apple' }, { _id: 1, n: 1, name: 'bread' }, { _id: 2, n: 5, name: 'apple' }, { _id: 4, n: 7 }]);
  same(d.skus.aggregate([
    { $lookup: { from: 'orders', let: { sku: '$_id' }, pipeline: [{ $unwind: '$lines' }, { $match: { $expr: { $eq: ['$lines.sku', '$$sku'] } } }, { $group: { _id: null, n: { $sum: '$lines.n' } } }], as: 'sold' } },
    { $replaceWith: { _id: '$_id', sold: { $first: '$sold.n' } } },
  ]).toArray(), [{ _id: 'a', sold: 7 }, { _id: 'b', sold: 1 }]);
});

step('$facet, $bucket, $sortByCount, $count, $unionWith, $sample', () => {
  same(d.orders.aggregate([{ $facet: {
    count: [{ $count: 'n' }],
    buckets: [{ $bucket: { groupBy: '$total', boundaries: [0, 10, 20], default: 'more', output: { ids: { $push: '$_id' } } } }],
    who: [{ $sortByCount: '$who' }, { $limit: 1 }],
  } }]).toArray(), [{
    count: [{ n: 4 }],
    buckets: [{ _id: 0, ids: [3, 4] }, { _id: 10, ids: [1] }, { _id: 'more', ids: [2] }],
    who: [{ _id: 'ann', count: 2 }],
  }]);
  same(d.orders.aggregate([{ $project: { _id: 1 } }, { $unionWith: { coll: 'skus', pipeline: [{ $project: { _id: 1 } }] } }, { $count: 'n' }]).toArray(), [{ n: 6 }]);
  same(d.orders.aggregate([{ $sample: { size: 2 } }]).toArray().length, 2);
});

step('dates and strings', () => {
  same(d.orders.aggregate([
    { $match: { _id: 2 } },
    { $project: {
      _id: 0,
      month: { $dateToString: { format: '%Y-%m', date: '$at' } },
      local: { $dateToString: { format: '%d %H:%M', date: '$at', timezone: 'Europe/Berlin' } },
      trunc: { $dateTrunc: { date: '$at', unit: 'week', startOfWeek: 'monday' } },
      plus: { $dateAdd: { startDate: '$at', unit: 'month', amount: 1 } },
      who: { $concat: [{ $toUpper: '$who' }, '-', { $toString: '$_id' }] },
      parts: { $split: ['a,b', ','] },
      cond: { $cond: [{ $gt: ['$total', 20] }, 'big', 'small'] },
    } },
  ]).toArray(), [{
    month: '2024-01', local: '21 00:30', trunc: ISODate('2024-01-15T00:00:00Z'), plus: ISODate('2024-02-20T23:30:00Z'), who: 'BOB-2', parts: ['a', 'b'], cond: 'big',
  }]);
});

step('$function and $accumulator', () => {
  same(d.orders.aggregate([{ $match: { _id: { $lt: 3 } } }, { $project: { n: { $function: { body: function (l) { return l.length; }, args: ['$lines'], lang: 'js' } } } }]).toArray(),
    [{ _id: 1, n: 2 }, { _id: 2, n: 1 }]);
  same(d.orders.aggregate([{ $group: { _id: null, n: { $accumulator: { init: 'function() { return 0; }', accumulate: 'function(s, l) { return s + l.length; }', accumulateArgs: ['$lines'], merge: 'function(a, b) { return a + b; }', lang: 'js' } } } }]).toArray(),
    [{ _id: null, n: 4 }]);
});

step('$out replaces, $merge merges', () => {
  d.result.insertOne({ _id: 'old' });
  same(d.orders.aggregate([{ $group: { _id: '$who', n: { $sum: 1 } } }, { $out: 'result' }]).toArray(), []);
  same(d.result.find().sort({ _id: 1 }).toArray(), [{ _id: null, n: 1 }, { _id: 'ann', n: 2 }, { _id: 'bob', n: 1 }]);
  d.orders.aggregate([{ $match: { who: 'ann' } }, { $group: { _id: '$who', extra: { $sum: 10 } } }, { $merge: { into: 'result', whenMatched: 'merge', whenNotMatched: 'insert' } }]);
  same(d.result.findOne({ _id: 'ann' }), { _id: 'ann', n: 2, extra: 20 });
  d.orders.aggregate([{ $match: { who: 'ann' } }, { $group: { _id: '$who', n: { $sum: 5 } } },
    { $merge: { into: { db: 'compat_sh_aggregate', coll: 'result' }, on: '_id', whenMatched: [{ $set: { n: { $add: ['$n', '$$new.n'] } } }] } }]);
  same(d.result.findOne({ _id: 'ann' }), { _id: 'ann', n: 12, extra: 20 });
  fails(11000, () => d.orders.aggregate([{ $project: { _id: '$who' } }, { $merge: { into: 'result', whenMatched: 'fail' } }]));
  d.orders.aggregate([{ $out: { db: 'compat_sh_aggregate_out', coll: 'copy' } }]);
  same(db.getSiblingDB('compat_sh_aggregate_out').copy.countDocuments(), 4);
  db.getSiblingDB('compat_sh_aggregate_out').dropDatabase();
});

step('views', () => {
  d.createView('big', 'orders', [{ $match: { total: { $gt: 10 } } }, { $project: { who: 1 } }]);
  same(d.big.find().sort({ _id: -1 }).toArray(), [{ _id: 2, who: 'bob' }, { _id: 1, who: 'ann' }]);
  same(d.big.countDocuments({ who: 'ann' }), 1);
  same(d.big.distinct('who'), ['ann', 'bob']);
  same(d.big.aggregate([{ $group: { _id: null, n: { $sum: 1 } } }]).toArray(), [{ _id: null, n: 2 }]);
  fails(166, () => d.big.insertOne({ a: 1 }), /view/);
  same(d.getCollectionInfos({ name: 'big' })[0].options, { viewOn: 'orders', pipeline: [{ $match: { total: { $gt: 10 } } }, { $project: { who: 1 } }] });
});

step('stages without a collection', () => {
  same(d.aggregate([{ $documents: [{ a: 1 }, { a: 2 }] }, { $group: { _id: null, s: { $sum: '$a' } } }]).toArray(), [{ _id: null, s: 3 }]);
  truth(db.getSiblingDB('admin').aggregate([{ $currentOp: {} }]).toArray().length >= 1, '$currentOp lists this command');
});

step('what is wrong or not there is refused', () => {
  fails(40324, () => d.orders.aggregate([{ $nope: {} }]).toArray());
  fails(15955, () => d.orders.aggregate([{ $group: { a: { $sum: 1 } } }]).toArray());
  fails(40234, () => d.orders.aggregate([{ $group: { _id: 1, a: 1 } }]).toArray());
  fails(168, () => d.orders.aggregate([{ $project: { a: { $nope: 1 } } }]).toArray());
});

step('change streams are refused', () => {
  const e = fails(40573, () => d.orders.watch().tryNext());
  truth(/replica set/.test(e.message), e.message);
  fails(40573, () => d.watch().tryNext());
  fails(40573, () => d.getMongo().watch().tryNext());
});
