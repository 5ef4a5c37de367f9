// Everyday work through the Node driver:
//
//   node everyday.mjs "mongodb://127.0.0.1:27018/?compressors=zlib"
//
// A step prints "ok NAME" or "FAIL NAME: reason"; the last line tells how many there were of each.
import { isDeepStrictEqual } from 'node:util';
import mongodb from 'mongodb';

const { MongoClient, BSON, Long, Double, Int32, Decimal128, Binary, ObjectId, Timestamp, MinKey, MaxKey, Code, BSONRegExp, BSONSymbol, UUID, DBRef } = mongodb;
const { EJSON } = BSON;

const uri = process.argv[2];
const client = new MongoClient(uri, { monitorCommands: true });
const db = client.db('compat_node');
const range = (n) => [...Array(n).keys()];
const tally = { passed: 0, failed: 0 };

async function step(name, fn) {
  try {
    await fn();
    tally.passed++;
    console.log(`ok ${name}`);
  } catch (e) {
    tally.failed++;
    console.log(`FAIL ${name}: ${String(e?.stack ?? e).split('\n').slice(0, 6).join(' | ')}`);
  }
}

const text = (v) => (v === undefined ? 'undefined' : EJSON.stringify(v, { relaxed: false }));

// same compares types and the order of fields too.
function same(got, want, what = 'value') {
  if (text(got) !== text(want)) throw new Error(`${what}: got ${text(got).slice(0, 1500)}, want ${text(want).slice(0, 1500)}`);
}

function truth(v, what) {
  if (v !== true) throw new Error(`${what}: ${v}`);
}

// fails wants a refusal with this code and gives the error.
async function fails(code, promise, message) {
  let caught;
  try {
    await promise;
  } catch (e) {
    caught = e;
  }
  if (caught === undefined) throw new Error(`not refused; want code ${code}`);
  if (caught.code !== code) throw new Error(`refused with code ${caught.code} (${caught.message}), want ${code}`);
  if (message && !message.test(caught.message)) throw new Error(`refused with ${caught.message}, want ${message}`);
  return caught;
}

// sent collects the commands that fn makes the driver send.
async function sent(fn) {
  const list = [];
  const listen = (e) => list.push(e);
  client.on('commandStarted', listen);
  await fn();
  client.off('commandStarted', listen);
  return list;
}

await db.dropDatabase();

await step('documents come and go', async () => {
  const c = db.collection('crud');
  const { insertedId } = await c.insertOne({ a: 1 });
  truth(insertedId instanceof ObjectId, 'an ObjectId is made');
  same((await c.insertMany([{ _id: 1 }, { _id: 2 }])).insertedIds, { 0: 1, 1: 2 });
  same(await c.findOne({ _id: 2 }), { _id: 2 });
  same(await c.findOne({ _id: 3 }), null);
  const u = await c.updateOne({ _id: 1 }, { $inc: { n: 5 } });
  same([u.matchedCount, u.modifiedCount, u.upsertedCount, u.upsertedId], [1, 1, 0, null]);
  const up = await c.updateOne({ _id: 'u' }, { $set: { x: 1 } }, { upsert: true });
  same([up.matchedCount, up.modifiedCount, up.upsertedCount, up.upsertedId], [0, 0, 1, 'u']);
  same((await c.replaceOne({ _id: 2 }, { z: 1 })).modifiedCount, 1);
  same(await c.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, { returnDocument: 'after' }), { _id: 1, n: 6 });
  same(await c.findOneAndDelete({ _id: 2 }), { _id: 2, z: 1 });
  same(await c.findOneAndReplace({ _id: 'none' }, { a: 1 }), null);
  same((await c.deleteMany({ _id: { $in: [1, 'u'] } })).deletedCount, 2);
  same(await c.countDocuments(), 1);
  same(await c.estimatedDocumentCount(), 1);
  same(await c.distinct('a'), [1]);
});

await step('bulk writes, ordered and not', async () => {
  const c = db.collection('bulk');
  const work = [
    { insertOne: { document: { _id: 1 } } },
    { insertOne: { document: { _id: 1 } } },
    { updateOne: { filter: { _id: 1 }, update: { $set: { a: 1 } } } },
    { updateOne: { filter: { _id: 5 }, update: { $set: { a: 5 } }, upsert: true } },
    { deleteOne: { filter: { _id: 9 } } },
  ];
  let e = await fails(11000, c.bulkWrite(work));
  same([e.result.insertedCount, e.result.modifiedCount, e.result.upsertedCount, e.writeErrors.length, e.writeErrors[0].index], [1, 0, 0, 1, 1]);
  same(await c.find().toArray(), [{ _id: 1 }]);
  await c.deleteMany({});
  e = await fails(11000, c.bulkWrite(work, { ordered: false }));
  same([e.result.insertedCount, e.result.modifiedCount, e.result.upsertedCount, e.writeErrors.length, e.writeErrors[0].index], [1, 1, 1, 1, 1]);
  same(await c.find().sort({ _id: 1 }).toArray(), [{ _id: 1, a: 1 }, { _id: 5, a: 5 }]);
});

await step('a duplicate has keyPattern and keyValue', async () => {
  const c = db.collection('dup');
  await c.createIndex({ mail: 1 }, { unique: true });
  await c.insertOne({ _id: 1, mail: 'a@b' });
  let e = await fails(11000, c.insertOne({ _id: 2, mail: 'a@b' }));
  same([e.keyPattern, e.keyValue], [{ mail: 1 }, { mail: 'a@b' }]);
  e = await fails(11000, c.findOneAndUpdate({ _id: 3 }, { $set: { mail: 'a@b' } }, { upsert: true }));
  same([e.keyPattern, e.keyValue], [{ mail: 1 }, { mail: 'a@b' }]);
});

await step('100,000 documents go in batches', async () => {
  const c = db.collection('many');
  same((await c.insertMany(range(100000).map((i) => ({ _id: i, k: i % 100 })))).insertedCount, 100000);
  same(await c.countDocuments({ k: 7 }), 1000);
});

await step('cursors: many batches, early close, async iteration', async () => {
  const c = db.collection('many');
  let n = 0;
  const commands = await sent(async () => {
    for await (const doc of c.find({ _id: { $lt: 1000 } }, { batchSize: 100 })) {
      same(doc._id, n++);
    }
  });
  same(n, 1000);
  truth(commands.filter((e) => e.commandName === 'getMore').length >= 9, 'getMore is sent');
  const closing = await sent(async () => {
    for await (const doc of c.find().batchSize(10)) {
      if (doc._id === 15) break;
    }
  });
  same(closing.map((e) => e.commandName), ['find', 'getMore', 'killCursors']);
  const cursor = c.find().batchSize(2);
  await cursor.next();
  await db.command({ killCursors: 'many', cursors: [cursor.id] });
  await cursor.next();
  await fails(43, cursor.next());
  same((await c.aggregate([{ $group: { _id: '$k', n: { $sum: 1 } } }], { cursor: { batchSize: 7 } }).toArray()).length, 100);
});

await step('sessions: implicit, explicit, and their cursors', async () => {
  const c = db.collection('many');
  const commands = await sent(() => c.findOne({ _id: 1 }));
  truth(commands[0].command.lsid.id instanceof Binary, 'the driver sends a session of its own');
  truth(commands[0].command.txnNumber === undefined, 'and no transaction numbers to a standalone');
  const writes = await sent(() => db.collection('crud').insertOne({ w: 1 }));
  truth(writes[0].command.txnNumber === undefined, 'retryWrites does nothing to a standalone');
  await client.withSession(async (session) => {
    const cursor = c.find({ _id: { $lt: 5000 } }, { session, batchSize: 2 });
    await cursor.next();
    same((await cursor.toArray()).length, 4999);
  });
});

await step('a numbered write sent again is carried out once', async () => {
  const c = db.collection('again');
  await c.insertOne({ _id: 1, n: 0 });
  const session = client.startSession();
  const write = { update: 'again', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }], txnNumber: Long.fromNumber(1) };
  same(await db.command(write, { session }), { n: 1, nModified: 1, ok: 1 });
  same(await db.command(write, { session }), { n: 1, nModified: 1, retriedStmtIds: [0], ok: 1 });
  same(await c.findOne(), { _id: 1, n: 1 });
  await session.endSession();
});

await step('transactions are refused', async () => {
  const session = client.startSession();
  let caught;
  try {
    await session.withTransaction(async () => db.collection('txn').insertOne({ _id: 1 }, { session }));
  } catch (e) {
    caught = e;
  }
  await session.endSession();
  same((caught.originalError ?? caught).code, 20);
  same(await db.collection('txn').countDocuments(), 0);
});

await step('change streams are refused', async () => {
  await fails(40573, db.collection('crud').watch().next());
  await fails(40573, client.watch().next());
});

await step('indexes', async () => {
  const c = db.collection('ix');
  same(await c.createIndexes([{ key: { a: 1 } }, { key: { b: -1, c: 1 }, unique: true, name: 'two' }]), ['a_1', 'two']);
  same((await c.indexes()).map((i) => [i.name, i.key, i.unique ?? false]), [['_id_', { _id: 1 }, false], ['a_1', { a: 1 }, false], ['two', { b: -1, c: 1 }, true]]);
  same(await c.indexExists('two'), true);
  await c.dropIndex('two');
  await fails(27, c.dropIndex('two'));
  same((await c.find({ a: 1 }).explain()).queryPlanner.winningPlan.inputStage.indexName, 'a_1');
});

await step('catalog and server', async () => {
  truth((await db.admin().listDatabases()).databases.some((d) => d.name === 'compat_node' && d.sizeOnDisk > 0 && !d.empty), 'listDatabases');
  truth((await db.listCollections().toArray()).some((c) => c.name === 'many' && c.type === 'collection'), 'listCollections');
  same((await db.listCollections({ name: 'many' }, { nameOnly: true }).toArray()), [{ name: 'many', type: 'collection' }]);
  same((await db.stats()).db, 'compat_node');
  same((await db.admin().ping()).ok, 1);
  same((await db.admin().serverInfo()).maxBsonObjectSize, 16777216);
  same((await db.admin().serverStatus()).process, 'mrbench');
  truth((await db.admin().command({ currentOp: 1 })).inprog.length > 0, 'currentOp');
  await db.createCollection('new');
  await fails(48, db.createCollection('new', { viewOn: 'many', pipeline: [] }));
  await db.renameCollection('new', 'newer');
  same(await db.dropCollection('newer'), true);
});

await step('aggregate with $lookup, $facet, $out and $merge', async () => {
  await db.collection('left').insertMany([{ _id: 1, r: 'x' }, { _id: 2, r: 'y' }]);
  await db.collection('right').insertMany([{ _id: 'x', v: 1 }]);
  const left = db.collection('left');
  same(await left.aggregate([{ $lookup: { from: 'right', localField: 'r', foreignField: '_id', as: 'm' } }, { $facet: { all: [{ $count: 'n' }], hit: [{ $match: { 'm.0': { $exists: true } } }] } }]).toArray(),
    [{ all: [{ n: 2 }], hit: [{ _id: 1, r: 'x', m: [{ _id: 'x', v: 1 }] }] }]);
  await left.aggregate([{ $set: { c: 1 } }, { $out: 'outed' }]).toArray();
  same(await db.collection('outed').find().toArray(), [{ _id: 1, r: 'x', c: 1 }, { _id: 2, r: 'y', c: 1 }]);
  await left.aggregate([{ $match: { _id: 1 } }, { $set: { d: 2 } }, { $merge: 'outed' }]).toArray();
  same(await db.collection('outed').findOne(), { _id: 1, r: 'x', c: 1, d: 2 });
});

await step('all types, untouched by the driver', async () => {
  const c = db.collection('types', { promoteValues: false, promoteLongs: false, promoteBuffers: false, bsonRegExp: true });
  const doc = {
    _id: new Int32(1), double: new Double(3), minusZero: new Double(-0), long: Long.MAX_VALUE, dec: Decimal128.fromString('1.10'), str: 'ä\u0000€', bin: new Binary(Buffer.from([1, 2]), 128),
    uuid: new UUID('00112233-4455-6677-8899-aabbccddeeff'), oid: new ObjectId('0123456789abcdef01234567'), yes: true, date: new Date(-1), nul: null, re: new BSONRegExp('a/b', 'im'), ts: new Timestamp({ t: 1, i: 2 }),
    min: new MinKey(), max: new MaxKey(), code: new Code('x', { y: new Int32(1) }), sym: new BSONSymbol('s'), sub: { b: new Int32(1), a: [[], {}] }, ref: new DBRef('c', new ObjectId('0123456789abcdef01234567')),
  };
  await c.insertOne(doc);
  same(await c.findOne(), doc);
  truth(isDeepStrictEqual(BSON.serialize(await c.findOne()), BSON.serialize(doc)), 'byte for byte');
});

await step('time limits and the size of documents', async () => {
  await fails(50, db.collection('many').find({ $where: 'function() { for (;;) { } }' }).maxTimeMS(50).toArray());
  const c = db.collection('big');
  const sized = (id, n) => ({ _id: new Int32(id), s: 'x'.repeat(n - 22) });
  await c.insertOne(sized(1, 16777216));
  await fails(10334, c.insertOne(sized(2, 16777217)));
  same(await c.distinct('_id'), [1]);
  same(BSON.calculateObjectSize(await c.findOne()), 16777216);
});

await step('hello: waiting for changes of the topology', async () => {
  const admin = client.db('admin');
  const h = await admin.command({ hello: 1 });
  truth(h.topologyVersion === undefined, 'none is offered');
  await fails(31368, admin.command({ hello: 1, maxAwaitTimeMS: 100 }));
  await fails(31368, admin.command({ hello: 1, topologyVersion: { processId: new ObjectId(), counter: Long.fromNumber(0) } }));
  same((await admin.command({ hello: 1, topologyVersion: { processId: new ObjectId(), counter: Long.fromNumber(0) }, maxAwaitTimeMS: Long.fromNumber(10000000) })).isWritablePrimary, true);
});

await step('64 requests at a time', async () => {
  const c = db.collection('parallel');
  await Promise.all(range(640).map((i) => c.updateOne({ _id: i % 10 }, { $inc: { n: 1 } }, { upsert: true })));
  same(await c.find().sort({ _id: 1 }).toArray(), range(10).map((i) => ({ _id: i, n: 64 })));
});

await db.dropDatabase();
await client.close();
console.log(`everyday: ${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed ? 1 : 0;
