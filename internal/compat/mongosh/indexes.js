// Making, listing, using and dropping indexes.
globalThis.d = fresh('indexes');
d.c.insertMany([...Array(100).keys()].map((i) => ({ _id: i, a: i % 7, b: -i, s: i % 2 ? 'odd' : undefined, l: [i, i + 1] })));

// specs are the specifications with their options last, without ns, which servers up to 4.2 give.
globalThis.specs = () => d.c.getIndexes().map(({ ns, v, key, name, ...options }) => ({ v, key, name, ...options }));

step('createIndex gives the name', () => {
  same(d.c.createIndex({ a: 1 }), 'a_1');
  same(d.c.createIndex({ a: 1 }), 'a_1');
  same(d.c.createIndex({ a: 1, b: -1 }, { name: 'both' }), 'both');
  same(d.c.createIndexes([{ 'x.y': 1 }, { l: 1 }]), ['x.y_1', 'l_1']);
  same(d.c.createIndex({ b: 1 }, { unique: true, background: true }), 'b_1');
  same(d.c.createIndex({ s: 1 }, { sparse: true }), 's_1');
  same(d.c.createIndex({ _id: 1, a: 1 }, { partialFilterExpression: { a: { $gt: 3 } } }), '_id_1_a_1');
});

step('getIndexes lists them', () => {
  same(specs(), [
    { v: 2, key: { _id: 1 }, name: '_id_' },
    { v: 2, key: { a: 1 }, name: 'a_1' },
    { v: 2, key: { a: 1, b: -1 }, name: 'both' },
    { v: 2, key: { 'x.y': 1 }, name: 'x.y_1' },
    { v: 2, key: { l: 1 }, name: 'l_1' },
    { v: 2, key: { b: 1 }, name: 'b_1', unique: true },
    { v: 2, key: { s: 1 }, name: 's_1', sparse: true },
    { v: 2, key: { _id: 1, a: 1 }, name: '_id_1_a_1', partialFilterExpression: { a: { $gt: 3 } } },
  ]);
  same(d.c.getIndexKeys().length, 8);
  same(d.runCommand({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] }),
    { numIndexesBefore: 8, numIndexesAfter: 8, note: 'all indexes already exist', ok: 1 });
  same(pick(d.runCommand({ createIndexes: 'made', indexes: [{ key: { a: 1 }, name: 'a_1' }] }), 'numIndexesBefore', 'numIndexesAfter', 'createdCollectionAutomatically', 'ok'),
    { numIndexesBefore: 1, numIndexesAfter: 2, createdCollectionAutomatically: true, ok: 1 });
});

step('explain shows the index', () => {
  const stage = (e) => e.queryPlanner.winningPlan;
  let p = stage(d.c.find({ a: 3 }).explain());
  same([p.stage, p.inputStage.stage, p.inputStage.keyPattern, p.inputStage.isMultiKey], ['FETCH', 'IXSCAN', { a: 1 }, false]);
  same(p.inputStage.indexBounds, { a: ['[3, 3]'] });
  p = stage(d.c.find({ l: { $gt: 5 } }).explain());
  same([p.inputStage.indexName, p.inputStage.isMultiKey], ['l_1', true]);
  same(stage(d.c.find({ nope: 1 }).explain()).stage, 'COLLSCAN');
  same(stage(d.c.find({ a: 3 }, { a: 1, _id: 0 }).explain()).stage.startsWith('PROJECTION'), true);
  const x = d.c.find({ a: 3 }).explain('executionStats').executionStats;
  same([x.nReturned, x.totalKeysExamined, x.totalDocsExamined, x.executionSuccess], [14, 14, 14, true]);
  truth(typeof d.c.explain().aggregate([{ $match: { a: 3 } }]) === 'object', 'aggregate explains');
  truth(d.c.explain().count({ a: 3 }).queryPlanner !== undefined, 'count explains');
  truth(d.c.explain().distinct('a').queryPlanner !== undefined, 'distinct explains');
  truth(d.c.explain().update({ a: 3 }, { $set: { z: 1 } }).queryPlanner !== undefined, 'update explains');
  truth(d.c.explain().remove({ a: 3 }).queryPlanner !== undefined, 'remove explains');
  truth(d.c.explain().findAndModify({ query: { a: 3 }, update: { $set: { z: 1 } } }).queryPlanner !== undefined, 'findAndModify explains');
  same(d.c.countDocuments({ z: 1 }), 0);
});

step('unique indexes refuse', () => {
  fails(11000, () => d.c.insertOne({ _id: 1000, b: -1 }), /b_1/);
  fails(11000, () => d.c.createIndex({ a: -1 }, { unique: true }), /a_-1/);
  same(specs().length, 8);
});

step('specifications that contradict each other are refused', () => {
  fails(86, () => d.c.createIndex({ q: 1 }, { name: 'b_1' }));
  fails(85, () => d.c.createIndex({ a: 1 }, { name: 'other' }));
  fails(67, () => d.c.createIndex({ q: 'nonsense' }));
  fails(67, () => d.c.createIndex({ q: 0 }));
});

step('kinds of index that are not there are refused, not ignored', () => {
  for (const key of [{ t: 'text' }, { g: '2dsphere' }, { h: 'hashed' }, { '$**': 1 }]) {
    fails(67, () => d.c.createIndex(key));
  }
  fails(67, () => d.c.createIndex({ when: 1 }, { expireAfterSeconds: 5 }), /expire/);
});

step('dropIndex and dropIndexes', () => {
  same(d.c.dropIndex('both'), { nIndexesWas: 8, ok: 1 });
  same(d.c.dropIndex({ l: 1 }), { nIndexesWas: 7, ok: 1 });
  fails(27, () => d.c.dropIndex('both'), /index not found/);
  same(d.c.dropIndexes(['a_1', 's_1']), { nIndexesWas: 6, ok: 1 });
  fails(72, () => d.c.dropIndex('_id_'));
  same(d.c.dropIndexes(), { nIndexesWas: 4, msg: 'non-_id indexes dropped for collection', ok: 1 });
  same(specs(), [{ v: 2, key: { _id: 1 }, name: '_id_' }]);
  fails(26, () => d.nowhere.dropIndex('x'));
  fails(26, () => d.nowhere.getIndexes());
});
