// Users, roles and logins, on a server that asks for them; the shell is logged in as somebody with the role root:
//
//   mongosh "mongodb://ann:password@127.0.0.1:27018/" users.js
const path = require('path');

load(path.join(__dirname, 'lib.js'));
globalThis.admin = db.getSiblingDB('admin');
globalThis.d = fresh('users');
globalThis.host = db.getMongo().getURI().replace(/^mongodb:\/\/[^@]*@([^/?]*).*/, '$1');
d.c.insertOne({ _id: 1 });

// as is the database seen by somebody else.
globalThis.as = (login, options = '') => new Mongo(`mongodb://${login}@${host}/?authSource=admin${options}`).getDB('compat_sh_users');

step('createUser, usersInfo, rolesInfo', () => {
  try { admin.dropUser('reader'); } catch (e) { same(e.code, 11); }
  same(admin.createUser({ user: 'reader', pwd: 'one', roles: [{ role: 'read', db: 'compat_sh_users' }] }), { ok: 1 });
  fails(51003, () => admin.createUser({ user: 'reader', pwd: 'x', roles: [] }));
  same(pick(admin.getUser('reader'), '_id', 'user', 'db', 'roles'), { _id: 'admin.reader', user: 'reader', db: 'admin', roles: [{ role: 'read', db: 'compat_sh_users' }] });
  same(admin.getUser('nobody'), null);
  truth(admin.getUsers().users.some((u) => u.user === 'reader'), 'getUsers');
  same(pick(admin.getRole('root'), 'role', 'db', 'isBuiltin'), { role: 'root', db: 'admin', isBuiltin: true });
});

step('a reader reads and does not write', () => {
  const r = as('reader:one');
  same(r.c.find().toArray(), [{ _id: 1 }]);
  fails(13, () => r.c.insertOne({ _id: 2 }), /not authorized/);
  fails(13, () => r.getSiblingDB('compat_sh_other').c.findOne());
  fails(13, () => r.dropDatabase());
  fails(13, () => r.getSiblingDB('admin').createUser({ user: 'x', pwd: 'x', roles: ['root'] }));
  same(r.runCommand({ connectionStatus: 1 }).authInfo.authenticatedUsers, [{ user: 'reader', db: 'admin' }]);
});

step('both mechanisms log in', () => {
  same(as('reader:one', '&authMechanism=SCRAM-SHA-1').c.countDocuments(), 1);
  same(as('reader:one', '&authMechanism=SCRAM-SHA-256').c.countDocuments(), 1);
});

step('a wrong password does not', () => {
  for (const mechanism of ['SCRAM-SHA-1', 'SCRAM-SHA-256']) {
    fails(18, () => as('reader:two', '&authMechanism=' + mechanism).c.findOne(), /Authentication failed/);
    fails(18, () => as('nobody:one', '&authMechanism=' + mechanism).c.findOne(), /Authentication failed/);
  }
});

step('without a login there is nothing but hello', () => {
  const stranger = new Mongo(`mongodb://${host}/`).getDB('compat_sh_users');
  same(stranger.hello().ok, 1);
  fails(13, () => stranger.c.findOne(), /authentication/);
  fails(13, () => stranger.c.insertOne({}));
  fails(13, () => stranger.adminCommand({ listDatabases: 1 }));
});

step('grants and new passwords count at once', () => {
  const r = as('reader:one');
  admin.grantRolesToUser('reader', [{ role: 'readWrite', db: 'compat_sh_users' }]);
  same(r.c.insertOne({ _id: 2 }).insertedId, 2);
  admin.revokeRolesFromUser('reader', [{ role: 'readWrite', db: 'compat_sh_users' }]);
  fails(13, () => r.c.insertOne({ _id: 3 }));
  same(admin.changeUserPassword('reader', 'two'), { ok: 1 });
  fails(18, () => as('reader:one').c.findOne());
  same(as('reader:two').c.countDocuments(), 2);
});

step('dropUser ends it', () => {
  same(admin.dropUser('reader'), { ok: 1 });
  fails(18, () => as('reader:two').c.findOne());
  fails(11, () => admin.dropUser('reader'));
});

print(`everyday: ${tally.passed} passed, ${tally.failed} failed`);
if (tally.failed > 0) quit(1);
