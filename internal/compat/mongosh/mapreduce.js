// mapReduce as shells call it.
globalThis.d = fresh('mapreduce');
d.c.insertMany([...Array(300).keys()].map((i) => ({ _id: i, k: i % 3, v: i })));
globalThis.map = function () { emit(this.k, this.v); };
globalThis.reduce = function (key, values) { return Array.sum(values); };

step('inline', () => {
  const r = d.c.mapReduce(map, reduce, { out: { inline: 1 } });
  same(r.results, [{ _id: 0, value: 14850 }, { _id: 1, value: 14950 }, { _id: 2, value: 15050 }]);
  same(r.ok, 1);
  same(pick(r.counts, 'input', 'emit', 'output'), { input: 300, emit: 300, output: 3 });
});

step('into a collection, with query, sort, limit, scope and finalize', () => {
  const r = d.c.mapReduce(map, reduce, {
    out: 'totals', query: { _id: { $gte: 150 } }, sort: { _id: 1 }, limit: 100, scope: { factor: 2 },
    finalize: function (key, value) { return { v: value * factor }; },
  });
  same(r.result, 'totals');
  same(r.counts.input, 100);
  const want = [0, 1, 2].map((k) => ({ _id: k, value: { v: [...Array(100).keys()].map((i) => i + 150).filter((i) => i % 3 === k).reduce((a, b) => a + b) * 2 } }));
  same(d.totals.find().sort({ _id: 1 }).toArray(), want);
});

step('merge, reduce and replace', () => {
  d.out.drop();
  d.c.mapReduce(map, reduce, { out: { merge: 'out' }, query: { k: 0 } });
  d.c.mapReduce(map, reduce, { out: { merge: 'out' }, query: { k: { $ne: 0 } } });
  same(d.out.find().sort({ _id: 1 }).toArray(), [{ _id: 0, value: 14850 }, { _id: 1, value: 14950 }, { _id: 2, value: 15050 }]);
  d.c.mapReduce(map, reduce, { out: { reduce: 'out' }, query: { k: 1 } });
  same(d.out.findOne({ _id: 1 }), { _id: 1, value: 29900 });
  d.c.mapReduce(map, reduce, { out: { replace: 'out', db: 'compat_sh_mapreduce_out' } });
  same(db.getSiblingDB('compat_sh_mapreduce_out').out.countDocuments(), 3);
  db.getSiblingDB('compat_sh_mapreduce_out').dropDatabase();
});

step('jsMode and verbose', () => {
  const r = d.runCommand({ mapReduce: 'c', map, reduce, out: { inline: 1 }, jsMode: true, verbose: true });
  same(r.timing.mode, 'js');
  same(r.results.length, 3);
});

step('faults in JavaScript are errors', () => {
  fails(139, () => d.c.mapReduce(function () { nothere(); }, reduce, { out: { inline: 1 } }), /nothere/);
  fails(26, () => d.nowhere.mapReduce(map, reduce, { out: { inline: 1 } }));
});

step('a loop without end stops at maxTimeMS', () => {
  fails(50, () => d.runCommand({ mapReduce: 'c', map: function () { for (;;) { } }, reduce, out: { inline: 1 }, maxTimeMS: 100 }));
});
