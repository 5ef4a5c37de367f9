// Cursors over several batches, and what ends them.
globalThis.d = fresh('cursors');
d.c.insertMany([...Array(1000).keys()].map((i) => ({ _id: i, m: i % 10, pad: 'x'.repeat(100) })));

step('a cursor walks all batches in order', () => {
  same(d.c.find().batchSize(7).map((x) => x._id).toArray(), [...Array(1000).keys()]);
  same(d.c.find().itcount(), 1000);
  same(d.c.find().sort({ _id: -1 }).batchSize(333).map((x) => x._id).toArray()[999], 0);
  let seen = 0;
  d.c.find({ m: 3 }).batchSize(9).forEach((x) => { seen += x._id; });
  same(seen, 49800);
});

step('hasNext, next and objsLeftInBatch', () => {
  const cur = d.c.find({ _id: { $lt: 5 } }).batchSize(2);
  truth(cur.hasNext(), 'there is a document');
  same(cur.next()._id, 0);
  same(cur.objsLeftInBatch(), 1);
  same([cur.next()._id, cur.next()._id, cur.next()._id, cur.next()._id], [1, 2, 3, 4]);
  same(cur.hasNext(), false);
  same(cur.tryNext(), null);
});

step('find and getMore as commands', () => {
  let r = d.runCommand({ find: 'c', filter: { _id: { $gte: 990 } }, projection: { _id: 1 }, batchSize: 4 });
  same(r.cursor.firstBatch, [{ _id: 990 }, { _id: 991 }, { _id: 992 }, { _id: 993 }]);
  same(r.cursor.ns, 'compat_sh_cursors.c');
  const id = r.cursor.id;
  truth(text(id) !== text(NumberLong(0)), 'the cursor stays open');
  r = d.runCommand({ getMore: id, collection: 'c', batchSize: 4 });
  same(r.cursor, { nextBatch: [{ _id: 994 }, { _id: 995 }, { _id: 996 }, { _id: 997 }], id, ns: 'compat_sh_cursors.c' });
  r = d.runCommand({ getMore: id, collection: 'c' });
  same(r.cursor, { nextBatch: [{ _id: 998 }, { _id: 999 }], id: NumberLong('0'), ns: 'compat_sh_cursors.c' });
  fails(43, () => d.runCommand({ getMore: id, collection: 'c' }), /cursor id .* not found/);
});

step('batchSize 0, singleBatch and limits', () => {
  let r = d.runCommand({ find: 'c', batchSize: 0 });
  same(r.cursor.firstBatch, []);
  r = d.runCommand({ getMore: r.cursor.id, collection: 'c', batchSize: 1 });
  same(r.cursor.nextBatch.length, 1);
  same(d.runCommand({ killCursors: 'c', cursors: [r.cursor.id] }),
    { cursorsKilled: [r.cursor.id], cursorsNotFound: [], cursorsAlive: [], cursorsUnknown: [], ok: 1 });
  r = d.runCommand({ find: 'c', singleBatch: true, batchSize: 3 });
  same([r.cursor.id, r.cursor.firstBatch.length], [NumberLong('0'), 3]);
  r = d.runCommand({ find: 'c' });
  same(r.cursor.firstBatch.length, 101);
  same(d.c.find().limit(150).itcount(), 150);
  same(d.c.find().limit(-3).itcount(), 3);
  same(d.c.find().skip(990).limit(20).itcount(), 10);
});

step('a closed cursor is gone', () => {
  const open = () => Number(db.serverStatus().metrics.cursor.open.total);
  const before = open();
  const cur = d.c.find().batchSize(2);
  cur.next();
  same(open(), before + 1);
  cur.close();
  same(open(), before);
  const r = d.runCommand({ find: 'c', batchSize: 2 });
  same(d.runCommand({ killCursors: 'c', cursors: [r.cursor.id, NumberLong('12345')] }),
    { cursorsKilled: [r.cursor.id], cursorsNotFound: [NumberLong('12345')], cursorsAlive: [], cursorsUnknown: [], ok: 1 });
  fails(43, () => d.runCommand({ getMore: r.cursor.id, collection: 'c' }));
});

step('a cursor of another collection or database is refused', () => {
  const id = d.runCommand({ find: 'c', batchSize: 2 }).cursor.id;
  fails(13, () => d.runCommand({ getMore: id, collection: 'other' }));
  same(d.runCommand({ killCursors: 'c', cursors: [id] }).cursorsKilled, [id]);
});

step('an open cursor does not see later writes to what it read', () => {
  const cur = d.c.find({ _id: { $gte: 995 } }).batchSize(2);
  same(cur.next()._id, 995);
  d.c.insertOne({ _id: 2000 });
  d.c.deleteOne({ _id: 996 });
  const rest = cur.map((x) => x._id).toArray();
  truth(rest.includes(999), 'the cursor goes on');
  same(rest.filter((x) => x < 1000).length, 4);
  d.c.deleteOne({ _id: 2000 });
  d.c.insertOne({ _id: 996, m: 6, pad: 'x'.repeat(100) });
});

step('dropping the collection ends a cursor or lets it finish', () => {
  d.gone.insertMany([...Array(50).keys()].map((i) => ({ _id: i })));
  const id = d.runCommand({ find: 'gone', batchSize: 2 }).cursor.id;
  d.gone.drop();
  try {
    const r = d.runCommand({ getMore: id, collection: 'gone' });
    same(r.cursor.nextBatch.length, 48);
  } catch (e) {
    truth([43, 96, 175].includes(e.code), `an ended cursor says so: ${e.code} ${e.message}`);
  }
});

step('tailable needs a capped collection', () => {
  fails(2, () => d.c.find().tailable().next(), /tailable/);
});

step('hint, min and max', () => {
  d.c.createIndex({ m: 1 });
  same(d.c.find({ _id: { $lt: 20 } }).hint({ m: 1 }).map((x) => x._id).toArray().slice(0, 4), [0, 10, 1, 11]);
  same(d.c.find().hint({ $natural: -1 }).limit(2).map((x) => x._id).toArray(), [999, 998]);
  same(d.c.find().min({ m: 8 }).max({ m: 9 }).hint({ m: 1 }).itcount(), 100);
  fails(2, () => d.c.find().hint({ nope: 1 }).itcount(), /hint/);
  fails(2, () => d.c.find().hint('nope_1').itcount(), /hint/);
  d.c.dropIndex({ m: 1 });
});

step('aggregate in batches', () => {
  same(d.c.aggregate([{ $match: { m: { $lt: 5 } } }, { $project: { _id: 1 } }], { cursor: { batchSize: 10 } }).itcount(), 500);
  const r = d.runCommand({ aggregate: 'c', pipeline: [{ $sort: { _id: -1 } }], cursor: { batchSize: 1 } });
  same(r.cursor.firstBatch[0]._id, 999);
  same(d.runCommand({ getMore: r.cursor.id, collection: 'c' }).cursor.nextBatch.length > 100, true);
});
