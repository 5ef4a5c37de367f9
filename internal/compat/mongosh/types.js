// Every BSON type there and back, as values, as _id, in filters and in sort order.
globalThis.d = fresh('types');
globalThis.all = {
  double: new Double(1.5), wholeDouble: new Double(3), minusZero: new Double(-0), nan: new Double(NaN), inf: new Double(Infinity),
  string: 'grüße \u0000 日本 😀', empty: '', doc: { b: 1, a: { z: [] } }, array: [1, [2, [3]], {}], emptyArray: [],
  bin: BinData(0, 'AQID'), uuid: UUID('00112233-4455-6677-8899-aabbccddeeff'), md5: BinData(5, 'AAECAwQFBgcICQoLDA0ODw=='), user: BinData(128, '/w=='),
  oid: ObjectId('0123456789abcdef01234567'), yes: true, no: false,
  date: ISODate('2024-02-29T23:59:59.999Z'), old: new Date(-62135596800000), far: new Date(253402300799999),
  null: null, regex: /^a.*b$/im, code: Code('function() { return 1; }'), scoped: Code('x + 1', { x: 1 }),
  int: NumberInt('-2147483648'), long: NumberLong('9223372036854775807'), small: NumberLong('1'), ts: Timestamp({ t: 4294967295, i: 7 }),
  decimal: NumberDecimal('-1234567890.123456789012345678901234'), zeros: NumberDecimal('1.000'), huge: NumberDecimal('9.999999999999999999999999999999999E+6144'), dnan: NumberDecimal('NaN'),
  symbol: new BSONSymbol('sym'), min: MinKey(), max: MaxKey(), ref: new DBRef('c', ObjectId('0123456789abcdef01234567')),
};

// plain is what the shell makes of doubles and symbols: values of JavaScript.
globalThis.plain = (v) => (v instanceof Double || v instanceof BSONSymbol ? v.valueOf() : v);

step('all types come back as they went', () => {
  d.t.insertOne({ _id: 1, ...all });
  const want = Object.fromEntries(Object.entries(all).map(([k, v]) => [k, plain(v)]));
  same(d.t.findOne(), { _id: 1, ...want });
  same(d.t.aggregate([{ $project: { _id: 0 } }]).toArray(), [want]);
  same(d.t.countDocuments({ symbol: { $type: 'symbol' }, wholeDouble: { $type: 'double' }, scoped: { $type: 'javascriptWithScope' } }), 1);
  same(d.t.aggregate([{ $project: { _id: 0, types: { $map: { input: { $objectToArray: '$$ROOT' }, in: { $type: '$$this.v' } } } } }]).next().types, ['int',
    'double', 'double', 'double', 'double', 'double', 'string', 'string', 'object', 'array', 'array', 'binData', 'binData', 'binData', 'binData', 'objectId',
    'bool', 'bool', 'date', 'date', 'date', 'null', 'regex', 'javascript', 'javascriptWithScope', 'int', 'long', 'long', 'timestamp',
    'decimal', 'decimal', 'decimal', 'decimal', 'symbol', 'minKey', 'maxKey', 'object']);
});

step('all types as _id, found again by it', () => {
  for (const [name, v] of Object.entries(all)) {
    if (Array.isArray(v) || name === 'regex') continue;
    d.ids.drop();
    d.runCommand({ insert: 'ids', documents: [{ _id: v }] });
    same(d.ids.findOne({ _id: { $eq: v } }), { _id: plain(v) }, name);
    same(d.runCommand({ insert: 'ids', documents: [{ _id: v }] }).writeErrors[0].code, 11000, name);
  }
  fails(2, () => d.ids.insertOne({ _id: [1] }), /_id/);
  fails(2, () => d.ids.insertOne({ _id: /x/ }), /_id/);
});

step('$type and $exists', () => {
  d.k.drop();
  Object.entries(all).forEach(([name, v], i) => d.k.insertOne({ _id: name, v }));
  const names = (f) => d.k.find(f).sort({ _id: 1 }).map((x) => x._id).toArray();
  same(names({ v: { $type: 'double' } }), ['double', 'inf', 'minusZero', 'nan', 'wholeDouble']);
  same(names({ v: { $type: 'decimal' } }), ['decimal', 'dnan', 'huge', 'zeros']);
  same(names({ v: { $type: ['int', 'long'] } }), ['array', 'int', 'long', 'small']);
  same(names({ v: { $type: 'timestamp' } }), ['ts']);
  same(names({ v: { $type: 9 } }), ['date', 'far', 'old']);
  same(names({ v: { $type: -1 } }), ['min']);
  same(names({ v: 1 }), ['array', 'small', 'zeros']);
  same(names({ v: null }), ['null']);
});

step('numbers of four types are equal by value', () => {
  d.n.drop();
  d.n.insertMany([{ _id: 1, v: NumberInt(7) }, { _id: 2, v: NumberLong('7') }, { _id: 3, v: new Double(7) }, { _id: 4, v: NumberDecimal('7.0') }, { _id: 5, v: NumberLong('9007199254740993') }, { _id: 6, v: new Double(9007199254740992) }]);
  same(d.n.countDocuments({ v: 7 }), 4);
  same(d.n.find({ v: { $gt: new Double(9007199254740992) } }, { _id: 1 }).toArray(), [{ _id: 5 }]);
  d.n.createIndex({ v: 1 });
  same(d.n.countDocuments({ v: NumberDecimal('7') }), 4);
  same(d.n.find().sort({ v: -1 }).limit(2).map((x) => x._id).toArray(), [5, 6]);
});

step('order across types', () => {
  d.o.drop();
  const order = [MinKey(), null, NumberInt(-1), NumberDecimal('0.1'), 'A', 'a', { a: 1 }, [], BinData(0, ''), ObjectId('0123456789abcdef01234567'), false, true, new Date(0), Timestamp({ t: 1, i: 1 }), /a/, MaxKey()];
  order.forEach((v, i) => d.o.insertOne({ _id: order.length - i, v: Array.isArray(v) ? [['x']] : v }));
  const want = order.map((_, i) => order.length - i);
  same(d.o.find().sort({ v: 1, _id: 1 }).map((x) => x._id).toArray(), want);
  d.o.createIndex({ v: -1 });
  same(d.o.find().sort({ v: -1 }).hint({ v: -1 }).map((x) => x._id).toArray(), want.reverse());
});

step('dates', () => {
  d.dates.insertMany([{ _id: 1, t: ISODate('2024-01-01') }, { _id: 2, t: ISODate('2024-06-01T12:00:00+02:00') }, { _id: 3, t: '2024-03-01' }]);
  same(d.dates.find({ t: { $gte: ISODate('2024-01-01'), $lt: ISODate('2025-01-01') } }).sort({ t: 1 }).map((x) => x._id).toArray(), [1, 2]);
  same(d.dates.findOne({ _id: 2 }).t.toISOString(), '2024-06-01T10:00:00.000Z');
});

step('decimals compute exactly', () => {
  d.dec.insertOne({ _id: 1, v: NumberDecimal('0.1') });
  d.dec.updateOne({ _id: 1 }, { $inc: { v: NumberDecimal('0.2') } });
  same(d.dec.findOne().v, NumberDecimal('0.3'));
  d.dec.updateOne({ _id: 1 }, { $mul: { v: 3 } });
  same(d.dec.findOne().v, NumberDecimal('0.9'));
  same(d.dec.aggregate([{ $project: { _id: 0, q: { $divide: ['$v', 3] }, r: { $round: ['$v', 0] }, w: { $divide: [NumberDecimal('7.00'), 1] } } }]).toArray(), [{ q: NumberDecimal('0.3'), r: NumberDecimal('1'), w: NumberDecimal('7.00') }]);
});
