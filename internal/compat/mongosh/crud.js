// Inserts, reads, updates, deletes, and the replies that shells show for them.
globalThis.d = fresh('crud');

step('insertOne gives the id', () => {
  same(d.a.insertOne({ _id: 1, n: 1 }), { acknowledged: true, insertedId: 1 });
  const r = d.a.insertOne({ n: 2 });
  truth(r.insertedId instanceof ObjectId, 'an ObjectId is made');
  same(d.a.findOne({ _id: r.insertedId }), { _id: r.insertedId, n: 2 });
});

step('insertMany gives the ids by position', () => {
  d.b.drop();
  same(d.b.insertMany([{ _id: 'x' }, { _id: 'y' }]), { acknowledged: true, insertedIds: { 0: 'x', 1: 'y' } });
  same(d.b.find().toArray(), [{ _id: 'x' }, { _id: 'y' }]);
});

step('insertMany stops at a duplicate, or goes on unordered', () => {
  d.b.drop();
  let e = fails(11000, () => d.b.insertMany([{ _id: 1 }, { _id: 1 }, { _id: 2 }]), /E11000 duplicate key error collection: compat_sh_crud\.b index: _id_ dup key: \{ _id: 1 \}/);
  same(e.writeErrors.length, 1);
  same(e.writeErrors[0].err.index, 1);
  same(e.result.insertedCount, 1);
  same(d.b.countDocuments(), 1);
  e = fails(11000, () => d.b.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 2 }, { _id: 3 }], { ordered: false }));
  same(e.writeErrors.map((w) => [w.err.index, w.err.code]), [[0, 11000], [2, 11000]]);
  same(e.result.insertedCount, 2);
  same(d.b.find().sort({ _id: 1 }).toArray(), [{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
});

step('a duplicate says which key', () => {
  d.b.drop();
  d.b.createIndex({ u: 1, w: -1 }, { unique: true });
  d.b.insertOne({ _id: 1, u: 'a', w: 2 });
  let e = fails(11000, () => d.b.insertOne({ _id: 2, u: 'a', w: 2 }), /index: u_1_w_-1 dup key: \{ u: "a", w: 2 \}/);
  same(e.errorResponse.keyPattern || e.keyPattern, { u: 1, w: -1 });
  same(e.errorResponse.keyValue || e.keyValue, { u: 'a', w: 2 });
  d.b.insertOne({ _id: 3, u: 'b', w: 1 });
  e = fails(11000, () => d.b.findOneAndUpdate({ _id: 3 }, { $set: { u: 'a', w: 2 } }));
  same(e.errorResponse.keyPattern, { u: 1, w: -1 });
  same(e.errorResponse.keyValue, { u: 'a', w: 2 });
});

step('find with projection, sort, skip, limit', () => {
  d.c.drop();
  d.c.insertMany([...Array(10).keys()].map((i) => ({ _id: i, a: i % 3, b: { c: i, d: [i, i + 1] } })));
  same(d.c.find({ a: 1 }, { 'b.c': 1, _id: 0 }).sort({ _id: -1 }).toArray(), [{ b: { c: 7 } }, { b: { c: 4 } }, { b: { c: 1 } }]);
  same(d.c.find().sort({ a: -1, _id: 1 }).skip(2).limit(3).map((x) => x._id).toArray(), [8, 1, 4]);
  same(d.c.find({ 'b.d': { $all: [4, 5] } }, { _id: 1 }).toArray(), [{ _id: 4 }]);
  same(d.c.find({}, { 'b.d': { $slice: 1 }, a: 0 }).limit(1).toArray(), [{ _id: 0, b: { c: 0, d: [0] } }]);
  same(d.c.find({ $expr: { $gt: ['$b.c', { $multiply: ['$a', 4] }] } }, { _id: 1 }).map((x) => x._id).toArray(), [3, 6, 7, 9]);
  same(d.c.findOne({ _id: 99 }), null);
  same(d.c.find({ a: { $in: [0, 2] } }).itcount(), 7);
  same(d.c.find({ $or: [{ _id: { $lt: 2 } }, { _id: 9 }] }).size(), 3);
  same(d.c.find({ _id: /x/ }).toArray(), []);
  same(d.c.find({ $where: 'this.b.c === 3' }).toArray().length, 1);
  same(d.c.find({ _id: 5 }, { total: { $sum: '$b.d' }, _id: 0 }).toArray(), [{ total: 11 }]);
});

step('updateOne, updateMany, replaceOne tell what they did', () => {
  const reply = (matched, modified) => ({ acknowledged: true, insertedId: null, matchedCount: matched, modifiedCount: modified, upsertedCount: 0 });
  same(d.c.updateOne({ _id: 0 }, { $set: { a: 0 } }), reply(1, 0));
  same(d.c.updateOne({ _id: 0 }, { $set: { a: 5 }, $inc: { 'b.c': 2 } }), reply(1, 1));
  same(d.c.updateMany({ a: 1 }, { $mul: { a: 10 } }), reply(3, 3));
  same(d.c.replaceOne({ _id: 9 }, { z: 1 }), reply(1, 1));
  same(d.c.findOne({ _id: 9 }), { _id: 9, z: 1 });
  same(d.c.updateOne({ _id: 77 }, { $set: { a: 0 } }), reply(0, 0));
  same(d.c.find({ a: 10 }).itcount(), 3);
});

step('upserts', () => {
  same(d.c.updateOne({ _id: 100, k: 'v' }, { $set: { a: 1 }, $setOnInsert: { s: 2 } }, { upsert: true }),
    { acknowledged: true, insertedId: 100, matchedCount: 0, modifiedCount: 0, upsertedCount: 1 });
  same(d.c.findOne({ _id: 100 }), { _id: 100, k: 'v', a: 1, s: 2 });
  same(d.c.updateOne({ _id: 100 }, { $set: { a: 2 }, $setOnInsert: { s: 3 } }, { upsert: true }),
    { acknowledged: true, insertedId: null, matchedCount: 1, modifiedCount: 1, upsertedCount: 0 });
  same(d.c.findOne({ _id: 100 }), { _id: 100, k: 'v', a: 2, s: 2 });
  const r = d.c.replaceOne({ none: 1 }, { q: 1 }, { upsert: true });
  truth(r.insertedId instanceof ObjectId, 'an ObjectId is made');
  same(d.c.findOne({ q: 1 }), { _id: r.insertedId, q: 1 });
  same(d.c.deleteOne({ q: 1 }), { acknowledged: true, deletedCount: 1 });
});

step('update operators', () => {
  d.u.drop();
  d.u.insertOne({ _id: 1, l: [1, 2, 3], m: { x: 1, y: 2 }, n: 5, s: [{ k: 1, v: 1 }, { k: 2, v: 2 }] });
  const after = (u, o) => {
    d.u.updateOne({ _id: 1 }, u, o);
    return d.u.findOne();
  };
  same(after({ $push: { l: { $each: [9, 8], $sort: 1, $slice: -4 } } }).l, [2, 3, 8, 9]);
  same(after({ $pull: { l: { $gt: 8 } } }).l, [2, 3, 8]);
  same(after({ $addToSet: { l: { $each: [2, 7] } } }).l, [2, 3, 8, 7]);
  same(after({ $pop: { l: -1 } }).l, [3, 8, 7]);
  same(after({ $pullAll: { l: [8, 7] } }).l, [3]);
  same(after({ $rename: { 'm.x': 'mx' } }), { _id: 1, l: [3], m: { y: 2 }, n: 5, s: [{ k: 1, v: 1 }, { k: 2, v: 2 }], mx: 1 });
  same(after({ $min: { n: 3 }, $max: { mx: 7 } }), { _id: 1, l: [3], m: { y: 2 }, n: 3, s: [{ k: 1, v: 1 }, { k: 2, v: 2 }], mx: 7 });
  same(after({ $bit: { n: { or: 4 } }, $unset: { m: '' } }), { _id: 1, l: [3], n: 7, s: [{ k: 1, v: 1 }, { k: 2, v: 2 }], mx: 7 });
  same(after({ $set: { 's.$[e].v': 20 } }, { arrayFilters: [{ 'e.k': 2 }] }).s, [{ k: 1, v: 1 }, { k: 2, v: 20 }]);
  same(after({ $inc: { 's.$[].v': 1 } }).s, [{ k: 1, v: 2 }, { k: 2, v: 21 }]);
  d.u.updateOne({ _id: 1, 's.k': 2 }, { $set: { 's.$.v': 0 } });
  same(d.u.findOne().s, [{ k: 1, v: 2 }, { k: 2, v: 0 }]);
  truth(after({ $currentDate: { t: true } }).t instanceof Date, '$currentDate gives a date');
  same(after([{ $set: { n: { $add: ['$n', '$mx'] } } }, { $unset: ['t', 's'] }]), { _id: 1, l: [3], n: 14, mx: 7 });
  fails(40, () => after({ $set: { n: 1 }, $inc: { n: 1 } }));
  fails(14, () => after({ $inc: { l: 1 } }));
  fails(66, () => after({ $set: { _id: 2 } }));
  fails(9, () => after({ $nope: { a: 1 } }));
});

step('findOneAndUpdate, findOneAndReplace, findOneAndDelete, findAndModify', () => {
  d.f.drop();
  d.f.insertMany([{ _id: 1, a: 1 }, { _id: 2, a: 2 }, { _id: 3, a: 3 }]);
  same(d.f.findOneAndUpdate({ a: { $gt: 1 } }, { $inc: { a: 10 } }, { sort: { a: -1 } }), { _id: 3, a: 3 });
  same(d.f.findOneAndUpdate({ _id: 3 }, { $inc: { a: 10 } }, { returnDocument: 'after', projection: { a: 1, _id: 0 } }), { a: 23 });
  same(d.f.findOneAndReplace({ _id: 1 }, { b: 1 }, { returnNewDocument: true }), { _id: 1, b: 1 });
  same(d.f.findOneAndDelete({ _id: 1 }), { _id: 1, b: 1 });
  same(d.f.findOneAndDelete({ _id: 1 }), null);
  same(d.f.findAndModify({ query: { _id: 9 }, update: { $set: { a: 9 } }, upsert: true, new: true }), { _id: 9, a: 9 });
  same(d.f.findAndModify({ query: { _id: 9 }, remove: true }), { _id: 9, a: 9 });
  same(pick(d.runCommand({ findAndModify: 'f', query: { _id: 8 }, update: { a: 8 }, upsert: true }), 'lastErrorObject', 'value', 'ok'),
    { lastErrorObject: { n: 1, updatedExisting: false, upserted: 8 }, value: null, ok: 1 });
  same(pick(d.runCommand({ findAndModify: 'f', query: { _id: 2 }, update: { $set: { a: 5 } } }), 'lastErrorObject', 'value', 'ok'),
    { lastErrorObject: { n: 1, updatedExisting: true }, value: { _id: 2, a: 2 }, ok: 1 });
});

step('deleteOne, deleteMany, remove', () => {
  d.r.drop();
  d.r.insertMany([...Array(10).keys()].map((i) => ({ _id: i, a: i % 2 })));
  same(d.r.deleteOne({ a: 1 }), { acknowledged: true, deletedCount: 1 });
  same(d.r.deleteMany({ a: 1 }), { acknowledged: true, deletedCount: 4 });
  same(d.r.remove({ a: 0 }, true), { acknowledged: true, deletedCount: 1 });
  same(d.r.deleteMany({}), { acknowledged: true, deletedCount: 4 });
  same(d.r.estimatedDocumentCount(), 0);
});

step('bulkWrite in order stops at the first failure', () => {
  d.k.drop();
  const e = fails(11000, () => d.k.bulkWrite([
    { insertOne: { document: { _id: 1, a: 1 } } },
    { updateOne: { filter: { _id: 1 }, update: { $set: { a: 2 } } } },
    { updateMany: { filter: { _id: 7 }, update: { $set: { a: 7 } }, upsert: true } },
    { insertOne: { document: { _id: 1 } } },
    { deleteOne: { filter: { _id: 1 } } },
  ]));
  same(pick(e.result, 'insertedCount', 'matchedCount', 'modifiedCount', 'deletedCount', 'upsertedCount', 'upsertedIds'),
    { insertedCount: 1, matchedCount: 1, modifiedCount: 1, deletedCount: 0, upsertedCount: 1, upsertedIds: { 2: 7 } });
  same(e.writeErrors[0].err.index, 3);
  same(d.k.find().sort({ _id: 1 }).toArray(), [{ _id: 1, a: 2 }, { _id: 7, a: 7 }]);
});

step('bulkWrite without order does the rest', () => {
  d.k.drop();
  d.k.insertOne({ _id: 1, a: 1 });
  const e = fails(11000, () => d.k.bulkWrite([
    { insertOne: { document: { _id: 1 } } },
    { insertOne: { document: { _id: 2 } } },
    { replaceOne: { filter: { _id: 2 }, replacement: { r: 1 } } },
    { updateOne: { filter: { _id: 1 }, update: { $inc: { a: 'x' } } } },
    { deleteMany: { filter: { _id: { $gt: 5 } } } },
    { insertOne: { document: { _id: 3 } } },
  ], { ordered: false }));
  same(e.writeErrors.map((w) => [w.err.index, w.err.code]).sort(), [[0, 11000], [3, 14]]);
  same(pick(e.result, 'insertedCount', 'matchedCount', 'modifiedCount', 'deletedCount', 'upsertedCount'),
    { insertedCount: 2, matchedCount: 1, modifiedCount: 1, deletedCount: 0, upsertedCount: 0 });
});

step('the older bulk builders', () => {
  d.k.drop();
  const ordered = d.k.initializeOrderedBulkOp();
  ordered.insert({ _id: 1 });
  ordered.insert({ _id: 2 });
  ordered.find({ _id: 1 }).updateOne({ $set: { x: 1 } });
  ordered.find({ _id: 5 }).upsert().replaceOne({ y: 1 });
  ordered.find({ _id: 2 }).delete();
  const r = ordered.execute();
  same(pick(r, 'insertedCount', 'matchedCount', 'modifiedCount', 'deletedCount', 'upsertedCount'),
    { insertedCount: 2, matchedCount: 1, modifiedCount: 1, deletedCount: 1, upsertedCount: 1 });
  const unordered = d.k.initializeUnorderedBulkOp();
  unordered.find({}).update({ $set: { z: 1 } });
  same(unordered.execute().modifiedCount, 2);
});

step('count and distinct', () => {
  d.n.drop();
  d.n.insertMany([{ _id: 1, a: 1 }, { _id: 2, a: NumberLong('1') }, { _id: 3, a: [2, 3] }, { _id: 4, a: null }, { _id: 5 }, { _id: 6, a: 'x' }]);
  same(d.n.countDocuments({ a: 1 }), 2);
  same(d.n.countDocuments({}, { skip: 2, limit: 3 }), 3);
  same(d.n.estimatedDocumentCount(), 6);
  same(d.n.countDocuments({ a: { $exists: false } }), 1);
  same(d.n.distinct('a'), [1, 2, 3, null, 'x']);
  same(d.n.distinct('a', { _id: { $gt: 3 } }), [null, 'x']);
  same(d.none.distinct('a'), []);
  same(d.none.countDocuments(), 0);
});

step('write concerns of one server', () => {
  same(d.w.insertOne({ _id: 1 }, { writeConcern: { w: 1, j: true } }).acknowledged, true);
  same(d.w.insertOne({ _id: 2 }, { writeConcern: { w: 'majority' } }).acknowledged, true);
  same(d.w.insertOne({ _id: 3 }, { writeConcern: { w: 0 } }).acknowledged, false);
  same(d.w.find({ _id: 3 }).itcount(), 1);
  fails(2, () => d.w.insertOne({ _id: 4 }, { writeConcern: { w: 2 } }));
});
