// Share of documents with a flag, by a ternary and finalize.
// expect: same
db.events.mapReduce(
  function () { emit(this.cat, { yes: this.flag === true ? 1 : 0, all: 1 }); },
  (key, values) => {
    const r = { yes: 0, all: 0 };
    values.forEach(v => { r.yes += v.yes; r.all += v.all; });
    return r;
  },
  { finalize: (key, v) => Math.floor(v.yes * 1000 / v.all) / 10, out: { inline: 1 } }
);
