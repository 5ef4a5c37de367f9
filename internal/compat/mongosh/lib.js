// What the scripts share. A step prints one line, "ok NAME" or "FAIL NAME" followed by the reason;
// everyday.js prints how many there were at the end. The Go test reads these lines.

globalThis.tally = { passed: 0, failed: 0 };

// step runs one piece of work; a throw anywhere in it fails it, and the others go on.
globalThis.step = (name, fn) => {
  try {
    fn();
  } catch (e) {
    tally.failed++;
    print(`FAIL ${name}: ${String((e && e.stack) || e).split('\n').slice(0, 8).join(' | ')}`);
    return;
  }
  tally.passed++;
  print(`ok ${name}`);
};

// text is a value with the type of everything in it, in the order it came.
globalThis.text = (v) => (v === undefined ? 'undefined' : EJSON.stringify(v, { relaxed: false }));

// same compares types and the order of fields too.
globalThis.same = (got, want, what = 'value') => {
  const g = text(got);
  const w = text(want);
  if (g !== w) throw new Error(`${what}: got ${g.slice(0, 1500)}, want ${w.slice(0, 1500)}`);
};

globalThis.truth = (v, what) => {
  if (v !== true) throw new Error(`${what}: ${String(v)}`);
};

// pick takes the named fields of a reply, for replies with fields that change from run to run.
globalThis.pick = (doc, ...names) => Object.fromEntries(names.map((n) => [n, doc[n]]));

// fails runs fn, which must be refused with this code; it gives the error for a closer look.
globalThis.fails = (code, fn, message) => {
  let caught;
  try {
    fn();
  } catch (e) {
    caught = e;
  }
  if (caught === undefined) throw new Error(`not refused; want code ${code}`);
  if (caught.code !== code) throw new Error(`refused with code ${caught.code} (${caught.message}), want ${code}`);
  if (message && !message.test(caught.message)) throw new Error(`refused with ${caught.message}, want ${message}`);
  return caught;
};

// fresh is an empty database of its own for a script.
globalThis.fresh = (name) => {
  const d = db.getSiblingDB('compat_sh_' + name);
  d.dropDatabase();
  return d;
};
