// The shell's helpers that are simplest in JavaScript itself.
(function (global) {
  "use strict";
  function define(on, name, value) {
    Object.defineProperty(on, name, {value: value, writable: true, configurable: true, enumerable: false});
  }
  function isPlain(v) {
    return v !== null && typeof v === "object" &&
      (Array.isArray(v) || Object.getPrototypeOf(v) === Object.prototype);
  }

  define(global, "isString", function isString(x) { return typeof x === "string"; });
  define(global, "isNumber", function isNumber(x) { return typeof x === "number"; });
  define(global, "isObject", function isObject(x) { return typeof x === "object"; });
  define(global, "isNumberLong", function (x) { return x instanceof NumberLong; });

  define(Object, "extend", function extend(to, from, deep) {
    for (var k in from) {
      var v = from[k];
      if (deep && isPlain(v)) v = Object.extend(Array.isArray(v) ? [] : {}, v, true);
      to[k] = v;
    }
    return to;
  });
  define(Object, "merge", function merge(a, b, deep) {
    return Object.extend(Object.extend({}, a, deep), b, deep);
  });
  define(Object, "keySet", function keySet(o) {
    var names = [];
    for (var k in o) {
      var up = Object.getPrototypeOf(o);
      if (!(up && k in up && o[k] === up[k])) names.push(k);
    }
    return names;
  });
  define(Object, "bsonsize", function bsonsize() { throw new Error("Object.bsonsize is not available here"); });

  define(Array.prototype, "tojson", undefined);
  delete Array.prototype.tojson;
  define(Date.prototype, "tojson", undefined);
  delete Date.prototype.tojson;
  define(String.prototype, "ltrim", function () { return this.replace(/^\s+/, ""); });
  define(String.prototype, "rtrim", function () { return this.replace(/\s+$/, ""); });
  define(String.prototype, "pad", function (length, right, chr) {
    var s = String(this);
    chr = chr === undefined ? " " : chr;
    while (s.length < length) s = right ? s + chr : chr + s;
    return s;
  });
  define(Number.prototype, "toPercentStr", function () { return (this * 100).toFixed(2) + "%"; });
  define(Number.prototype, "zeroPad", function (width) {
    var s = String(this);
    while (s.length < width) s = "0" + s;
    return s;
  });
  define(RegExp, "escape", function (s) { return s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"); });

  function doassert(msg) { throw new Error(typeof msg === "function" ? msg() : msg); }
  define(global, "doassert", doassert);
  define(global, "assert", function assert(ok, msg) {
    if (!ok) doassert(msg === undefined ? "assert failed" : "assert failed : " + (typeof msg === "function" ? msg() : msg));
  });
  function suffix(msg) { return msg === undefined ? "" : " : " + (typeof msg === "function" ? msg() : msg); }
  function same(a, b) {
    if (a == b) return true;
    return a != null && b != null && tojson(a) === tojson(b);
  }
  define(assert, "eq", function (a, b, msg) {
    if (!same(a, b)) doassert("[" + tojson(a) + "] != [" + tojson(b) + "] are not equal" + suffix(msg));
  });
  define(assert, "neq", function (a, b, msg) {
    if (same(a, b)) doassert("[" + tojson(a) + "] == [" + tojson(b) + "] are equal" + suffix(msg));
  });
  define(assert, "throws", function (f, params, msg) {
    try { f.apply(null, params || []); } catch (e) { return e; }
    doassert("did not throw exception" + suffix(msg));
  });
  define(assert, "lt", function (a, b, msg) { if (!(a < b)) doassert(a + " is not less than " + b + suffix(msg)); });
  define(assert, "lte", function (a, b, msg) { if (!(a <= b)) doassert(a + " is not less than or eq " + b + suffix(msg)); });
  define(assert, "gt", function (a, b, msg) { if (!(a > b)) doassert(a + " is not greater than " + b + suffix(msg)); });
  define(assert, "gte", function (a, b, msg) { if (!(a >= b)) doassert(a + " is not greater than or eq " + b + suffix(msg)); });
  define(assert, "contains", function (x, list, msg) {
    if (!Array.contains(list, x)) doassert(tojson(x) + " was not in " + tojson(list) + suffix(msg));
  });

  define(global, "Random", {
    srand: function () {},
    setRandomSeed: function () {},
    rand: function () { return _rand(); },
    randInt: function (n) { return Math.floor(_rand() * n); },
    genExp: function (mean) { return -Math.log(1 - _rand()) * mean; }
  });
  define(global, "Map", Map);
})(this);
