// Big batches, big documents, time limits.
globalThis.d = fresh('limits');

step('100,000 documents in one batch', () => {
  const docs = [...Array(100000).keys()].map((i) => ({ _id: i, k: i % 1000 }));
  same(d.runCommand({ insert: 'many', documents: docs }), { n: 100000, ok: 1 });
  same(d.many.countDocuments(), 100000);
  same(d.many.distinct('k').length, 1000);
  same(d.many.updateMany({ k: { $lt: 500 } }, { $set: { u: 1 } }).modifiedCount, 50000);
  same(d.many.deleteMany({ u: 1 }).deletedCount, 50000);
  same(d.many.find().itcount(), 50000);
});

step('one write more than a batch may have', () => {
  fails(16, () => d.runCommand({ insert: 'many2', documents: [...Array(100001).keys()].map((i) => ({ _id: i })) }), /100000/);
  same(d.many2.countDocuments(), 0);
  fails(16, () => d.runCommand({ insert: 'many2', documents: [] }));
});

// A document of exactly n bytes: 5 for the document, 14 with its _id of 4 bytes, 8 for the string's frame, and the text.
globalThis.sized = (id, n) => ({ _id: NumberInt(id), s: 'x'.repeat(n - 22) });

step('16 MiB documents, and one byte more', () => {
  const max = 16 * 1024 * 1024;
  same(bsonsize(sized(1, 1000)), 1000);
  same(d.big.insertOne(sized(1, max)).insertedId, 1);
  same(bsonsize(d.big.findOne({ _id: 1 })), max);
  fails(10334, () => d.big.insertOne(sized(2, max + 1)), /16777217/);
  same(d.big.countDocuments(), 1);
  fails(17419, () => d.big.updateOne({ _id: 1 }, { $set: { t: 1 } }));
  fails(17420, () => d.big.updateOne({ _id: 2 }, { $set: { s: 'x'.repeat(max - 21) } }, { upsert: true }));
  same(bsonsize(d.big.findOne()), max);
  same(d.big.insertMany([sized(3, 15000000), sized(4, 15000000), sized(5, 15000000)]).acknowledged, true);
  same(d.big.find().map((x) => x._id).toArray(), [1, 3, 4, 5]);
});

step('maxTimeMS stops work', () => {
  fails(50, () => d.many.find({ $where: 'function() { while (true) {} }' }).maxTimeMS(50).toArray());
  fails(50, () => d.many.aggregate([{ $match: { $expr: { $function: { body: 'function() { while (true) {} }', args: [], lang: 'js' } } } }], { maxTimeMS: 50 }).toArray());
  same(d.many.find().maxTimeMS(60000).limit(2).toArray().length, 2);
  fails(2, () => d.runCommand({ find: 'many', maxTimeMS: -1 }));
});

step('deep nesting', () => {
  let deep = { v: 1 };
  for (let i = 0; i < 98; i++) deep = { d: deep };
  d.deep.insertOne({ _id: 1, deep });
  same(d.deep.findOne().deep, deep);
});
