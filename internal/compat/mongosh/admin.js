// What shells and monitoring ask of a server.
globalThis.d = fresh('admin');
d.c.insertMany([{ _id: 1, a: 'x' }, { _id: 2 }]);
d.e.insertOne({ _id: 1 });

step('hello and buildInfo', () => {
  const h = db.hello();
  same(pick(h, 'isWritablePrimary', 'maxBsonObjectSize', 'maxMessageSizeBytes', 'maxWriteBatchSize', 'readOnly', 'ok'),
    { isWritablePrimary: true, maxBsonObjectSize: 16777216, maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000, readOnly: false, ok: 1 });
  truth(h.setName === undefined && h.msg === undefined, 'a standalone');
  truth(typeof h.mrbench === 'string', 'it says what it is');
  const b = db.serverBuildInfo();
  same(b.version, db.version());
  truth(typeof b.mrbench === 'string', 'buildInfo says what it is');
});

step('show dbs, show collections and their commands', () => {
  same(db.adminCommand({ listDatabases: 1, nameOnly: true, filter: { name: 'compat_sh_admin' } }), { databases: [{ name: 'compat_sh_admin' }], ok: 1 });
  const info = db.adminCommand({ listDatabases: 1, filter: { name: 'compat_sh_admin' } }).databases[0];
  same([info.name, info.empty, Number(info.sizeOnDisk) > 0], ['compat_sh_admin', false, true]);
  truth(db.getMongo().getDBNames().includes('compat_sh_admin'), 'getDBNames');
  same(d.getCollectionNames().sort(), ['c', 'e']);
  same(d.getCollectionInfos({ name: 'c' }, { nameOnly: true }), [{ name: 'c', type: 'collection' }]);
  const full = d.getCollectionInfos({ name: 'c' })[0];
  same(pick(full, 'name', 'type', 'options'), { name: 'c', type: 'collection', options: {} });
  truth(full.info.uuid.sub_type === 4, 'a uuid');
});

step('stats', () => {
  const s = d.stats();
  same(pick(s, 'db', 'collections', 'views', 'objects', 'avgObjSize', 'dataSize', 'indexes', 'ok'),
    { db: 'compat_sh_admin', collections: 2, views: 0, objects: 3, avgObjSize: 17, dataSize: 51, indexes: 2, ok: 1 });
  const c = d.c.stats();
  same([c.ns, Number(c.count), Number(c.size), Number(c.nindexes), c.capped], ['compat_sh_admin.c', 2, 37, 1, false]);
  truth(d.c.dataSize() > 0, 'dataSize');
  truth(typeof d.c.totalIndexSize() === 'number', 'totalIndexSize');
  same(d.c.isCapped(), false);
  same(Number(d.c.storageSize()) >= 0, true);
});

step('serverStatus, currentOp, killOp, hostInfo', () => {
  const s = db.serverStatus();
  truth(Number(s.opcounters.insert) >= 3, 'opcounters');
  truth(s.connections.current >= 1, 'connections');
  truth(s.mem.resident > 0, 'mem');
  same(s.process, 'mrbench');
  truth(db.currentOp().inprog.length >= 1, 'currentOp lists this command');
  same(pick(db.killOp(999999999), 'ok'), { ok: 1 });
  truth(db.hostInfo().system.numCores >= 1, 'hostInfo');
  truth(Array.isArray(db.adminCommand({ getCmdLineOpts: 1 }).argv), 'getCmdLineOpts');
  truth(Array.isArray(db.adminCommand({ getLog: 'startupWarnings' }).log), 'getLog');
  same(db.adminCommand({ getParameter: 1, featureCompatibilityVersion: 1 }), { featureCompatibilityVersion: { version: '7.0' }, ok: 1 });
  truth(db.runCommand({ listCommands: 1 }).commands.mapReduce !== undefined, 'listCommands');
  same(db.runCommand({ ping: 1 }), { ok: 1 });
  truth(db.runCommand({ connectionStatus: 1 }).authInfo !== undefined, 'connectionStatus');
  same(db.getProfilingStatus().was, 0);
});

step('validate', () => {
  d.c.createIndex({ a: 1 });
  const v = d.c.validate({ full: true });
  same([v.valid, Number(v.nrecords), v.nIndexes], [true, 2, 2]);
  same(Object.fromEntries(Object.entries(v.keysPerIndex).map(([k, n]) => [k, Number(n)])), { _id_: 2, a_1: 2 });
});

step('createCollection, renameCollection, drop', () => {
  same(d.createCollection('made'), { ok: 1 });
  fails(48, () => d.createCollection('made', { viewOn: 'c', pipeline: [] }));
  same(d.c.renameCollection('moved'), { ok: 1 });
  same(d.moved.countDocuments(), 2);
  same(d.moved.getIndexes().length, 2);
  fails(48, () => d.moved.renameCollection('e'));
  same(d.moved.renameCollection('e', true), { ok: 1 });
  fails(26, () => d.nope.renameCollection('x'));
  same(d.e.drop(), true);
  same(d.getCollectionNames(), ['made']);
  same(d.dropDatabase(), { ok: 1, dropped: 'compat_sh_admin' });
  same(d.getCollectionNames(), []);
});

step('what is not there is refused, not ignored', () => {
  fails(72, () => d.createCollection('x', { capped: true, size: 1000 }));
  fails(72, () => d.createCollection('x', { timeseries: { timeField: 't' } }));
  fails(72, () => d.createCollection('x', { validator: { a: 1 } }));
  fails(59, () => d.runCommand({ nosuch: 1 }), /no such command: 'nosuch'/);
  fails(2, () => d.c.find().collation({ locale: 'de' }).toArray(), /collation/);
  fails(76, () => rs.status());
});

step('bad names are refused', () => {
  fails(73, () => d.runCommand({ insert: 'a$b', documents: [{}] }));
  fails(73, () => d.runCommand({ create: '' }));
  fails(73, () => db.getSiblingDB('x').getCollection('system.nope').insertOne({}));
});
