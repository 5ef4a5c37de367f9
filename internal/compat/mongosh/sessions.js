// Sessions, transactions, and writes that are sent again.
globalThis.d = fresh('sessions');

step('a session of the shell', () => {
  const s = db.getMongo().startSession();
  const sd = s.getDatabase('compat_sh_sessions');
  sd.c.insertOne({ _id: 1 });
  same(sd.c.find().toArray(), [{ _id: 1 }]);
  s.endSession();
  same(d.c.countDocuments(), 1);
});

step('transactions are refused, and nothing is written', () => {
  const s = db.getMongo().startSession();
  s.startTransaction();
  let e;
  try { s.getDatabase('compat_sh_sessions').c.insertOne({ _id: 2 }); } catch (caught) { e = caught; }
  truth(e !== undefined, 'refused');
  same((e.originalError || e).code, 20);
  truth(/retryable writes|replica set/.test(e.message), e.message);
  try { s.abortTransaction(); } catch (caught) { same(caught.code, 20); }
  s.endSession();
  same(d.c.countDocuments(), 1);
});

step('session commands', () => {
  const id = db.runCommand({ startSession: 1 }).id;
  same(db.runCommand({ refreshSessions: [id] }), { ok: 1 });
  same(db.runCommand({ endSessions: [id] }), { ok: 1 });
});

// write sends a command as a driver does that may send it again. Its shell's own session must not get in the way.
globalThis.lsid = () => ({ id: UUID() });
globalThis.write = (session, txnNumber, command) => d.runCommand({ ...command, lsid: session, txnNumber: NumberLong(String(txnNumber)) });

step('a write sent again is carried out once', () => {
  const id = lsid();
  d.r.insertOne({ _id: 1, n: 0 });
  const inc = { update: 'r', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }, { q: { _id: 2 }, u: { $inc: { n: 1 } }, upsert: true }] };
  const first = { n: 2, nModified: 1, upserted: [{ index: 1, _id: 2 }] };
  same(write(id, 1, inc), { ...first, ok: 1 });
  same(write(id, 1, inc), { ...first, retriedStmtIds: [0, 1], ok: 1 });
  same(d.r.find().toArray(), [{ _id: 1, n: 1 }, { _id: 2, n: 1 }]);
  same(write(id, 2, { delete: 'r', deletes: [{ q: { n: 1 }, limit: 1 }] }), { n: 1, ok: 1 });
  same(write(id, 2, { delete: 'r', deletes: [{ q: { n: 1 }, limit: 1 }] }), { n: 1, retriedStmtIds: [0], ok: 1 });
  same(d.r.countDocuments(), 1);
  same(write(id, 3, { insert: 'r', documents: [{ _id: 8 }, { _id: 9 }] }), { n: 2, ok: 1 });
  same(write(id, 3, { insert: 'r', documents: [{ _id: 8 }, { _id: 9 }] }), { n: 2, retriedStmtIds: [0, 1], ok: 1 });
  const modify = { findAndModify: 'r', query: { _id: 9 }, update: { $inc: { n: 5 } }, new: true };
  const reply = { lastErrorObject: { n: 1, updatedExisting: true }, value: { _id: 9, n: 5 }, ok: 1 };
  same(write(id, 4, modify), reply);
  same(write(id, 4, modify), reply);
  same(d.r.findOne({ _id: 9 }), { _id: 9, n: 5 });
});

step('numbers that cannot be are refused', () => {
  const id = lsid();
  same(write(id, 5, { insert: 'r', documents: [{ _id: 50 }] }), { n: 1, ok: 1 });
  fails(225, () => write(id, 4, { insert: 'r', documents: [{ _id: 51 }] }));
  fails(50768, () => write(id, 6, { count: 'r' }));
  same(write(id, 7, { update: 'r', updates: [{ q: {}, u: { $set: { x: 1 } }, multi: true }] }).writeErrors[0].code, 72);
  same(d.r.countDocuments({ x: 1 }), 0);
  same(d.r.countDocuments({ _id: 51 }), 0);
});

step('read concerns', () => {
  same(d.runCommand({ count: 'c', readConcern: { level: 'majority' } }), { n: 1, ok: 1 });
  fails(123, () => d.runCommand({ find: 'c', readConcern: { level: 'snapshot' } }));
});
