package seed

import (
	"math"
	"sort"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// makers are the generators that need no other field. Read only.
var makers = map[string]func(*spec) maker{
	"index": func(*spec) maker {
		return func(dst []byte, key string, d *draft) []byte {
			return bsoncore.AppendInt64Element(dst, key, int64(d.index))
		}
	},
	"int": makeInt,
	"double": func(o *spec) maker {
		lo, hi, decimals := o.number("min", 0), o.number("max", 1), o.int("decimals", -1)
		if !(lo <= hi) || decimals > 15 {
			o.fail("min must not be above max, decimals not above 15")
		}
		return func(dst []byte, key string, d *draft) []byte {
			return bsoncore.AppendDoubleElement(dst, key, round(lo+d.float()*(hi-lo), decimals))
		}
	},
	"normal": func(o *spec) maker {
		mean, deviation, decimals := o.number("mean", 0), o.number("deviation", 1), o.int("decimals", -1)
		if deviation < 0 || decimals > 15 {
			o.fail("deviation must not be negative, decimals not above 15")
		}
		return func(dst []byte, key string, d *draft) []byte {
			return bsoncore.AppendDoubleElement(dst, key, round(mean+d.normal()*deviation, decimals))
		}
	},
	"bool": func(o *spec) maker {
		share := o.number("true", 0.5)
		if !(share >= 0 && share <= 1) {
			o.fail("true must be from 0 to 1")
		}
		return func(dst []byte, key string, d *draft) []byte {
			return bsoncore.AppendBooleanElement(dst, key, d.float() < share)
		}
	},
	"choice": makeChoice,
	"date": func(o *spec) maker {
		lo, ok := o.get("from").DateTimeOK()
		hi, ok2 := o.get("to").DateTimeOK()
		if !ok || !ok2 || hi <= lo {
			o.fail(`from and to must be dates, {"$date": "2024-01-31T00:00:00Z"}, from before to`)
		}
		return func(dst []byte, key string, d *draft) []byte {
			return bsoncore.AppendDateTimeElement(dst, key, d.between(lo, hi-1))
		}
	},
	"objectId": func(*spec) maker { return objectIDs },
	"uuid": func(*spec) maker {
		return func(dst []byte, key string, d *draft) []byte {
			u := d.uuid()
			dst = bsoncore.AppendHeader(dst, 0x05, key)
			return append(append(dst, 16, 0, 0, 0, 4), u[:]...)
		}
	},
	"string": func(o *spec) maker {
		lo, hi := o.lengths(10, 10, 1<<20)
		return text(func(dst []byte, d *draft) []byte { return appendLetters(dst, &d.random, int(d.between(lo, hi))) })
	},
	"text": func(o *spec) maker {
		lo, hi := o.lengths(30, 300, 1<<20)
		return text(func(dst []byte, d *draft) []byte { return appendText(dst, &d.random, int(d.between(lo, hi))) })
	},
	"name": func(*spec) maker {
		return text(func(dst []byte, d *draft) []byte {
			return append(append(append(dst, pick(&d.random, firstNames)...), ' '), pick(&d.random, lastNames)...)
		})
	},
	"city": func(*spec) maker {
		return text(func(dst []byte, d *draft) []byte { return append(dst, pick(&d.random, cities)...) })
	},
}

func text(chars func([]byte, *draft) []byte) maker {
	return func(dst []byte, key string, d *draft) []byte {
		mark, dst := startString(dst, key)
		return endString(chars(dst, d), mark)
	}
}

func makeInt(o *spec) maker {
	lo := o.int("min", 0)
	hi := o.int("max", math.MaxInt32)
	if lo > hi {
		o.fail("min must not be above max")
	}
	draw := func(d *draft) int64 { return d.between(lo, hi) }
	if s := o.number("zipf", 0); s != 0 {
		if !(s > 1) || hi-lo < 0 {
			o.fail("zipf must be above 1, and max - min fit an int64")
			return nil
		}
		z := newZipf(s, float64(hi-lo))
		draw = func(d *draft) int64 { return lo + z.draw(&d.random) }
	}
	if lo >= math.MinInt32 && hi <= math.MaxInt32 {
		return func(dst []byte, key string, d *draft) []byte {
			return bsoncore.AppendInt32Element(dst, key, int32(draw(d)))
		}
	}
	return func(dst []byte, key string, d *draft) []byte { return bsoncore.AppendInt64Element(dst, key, draw(d)) }
}

func makeChoice(o *spec) maker {
	list, ok := o.get("values").ArrayOK()
	values, err := list.Values()
	if !ok || err != nil || len(values) == 0 {
		o.fail("values must be an array of at least one")
		return nil
	}
	sums := make([]float64, len(values)) // running sums of the weights
	weights := o.get("weights")
	var given []bson.RawValue
	if weights.Type != 0 {
		w, ok := weights.ArrayOK()
		if given, err = w.Values(); !ok || err != nil || len(given) != len(values) {
			o.fail("weights must be an array as long as values")
			return nil
		}
	}
	total := 0.0
	for i := range sums {
		w := 1.0
		if given != nil {
			switch given[i].Type {
			case bson.TypeDouble:
				w = given[i].Double()
			case bson.TypeInt32, bson.TypeInt64:
				w = float64(given[i].AsInt64())
			default:
				w = -1
			}
		}
		if !(w >= 0) {
			o.fail("weights must be numbers of 0 or more")
		}
		total += w
		sums[i] = total
	}
	if !(total > 0) || math.IsInf(total, 0) {
		o.fail("the weights must have a sum above 0")
	}
	return func(dst []byte, key string, d *draft) []byte {
		x := d.float() * total
		v := values[min(sort.Search(len(sums), func(i int) bool { return sums[i] > x }), len(sums)-1)]
		return bsoncore.AppendValueElement(dst, key, bsoncore.Value{Type: v.Type, Data: v.Value})
	}
}

// zipf draws k in [0, n] with a probability of (k+1)^-s, by inverting the
// integral of the density and refusing what lies outside of the steps.
type zipf struct{ s, area, top, quick float64 }

func newZipf(s, n float64) *zipf {
	z := &zipf{s: s}
	z.top = z.integral(n + 0.5)
	z.area = z.integral(0.5) - 1 - z.top
	z.quick = 1 - z.inverse(z.integral(1.5)-math.Pow(2, -s))
	return z
}

// integral is that of (1+x)^-s; inverse undoes it.
func (z *zipf) integral(x float64) float64 { return math.Pow(1+x, 1-z.s) / (1 - z.s) }
func (z *zipf) inverse(y float64) float64  { return math.Pow((1-z.s)*y, 1/(1-z.s)) - 1 }

func (z *zipf) draw(r *random) int64 {
	for {
		y := z.top + r.float()*z.area
		x := z.inverse(y)
		k := math.Floor(x + 0.5)
		if k-x <= z.quick || y >= z.integral(k+0.5)-math.Pow(k+1, -z.s) {
			return int64(k)
		}
	}
}

func bsonType(b byte) bsontype.Type { return bsontype.Type(b) }
