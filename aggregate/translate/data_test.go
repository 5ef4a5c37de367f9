package translate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// kind of data.
type kind int

const (
	clean kind = iota // as the job's author thinks of it
	usual             // as it is: missing fields, nulls, mixed number types, empty arrays, strings where numbers are expected
	wild              // any type anywhere
)

type maker struct {
	*rand.Rand
	kind kind
}

func (m maker) pick(list ...any) any { return list[m.IntN(len(list))] }

func (m maker) odd() any {
	if m.kind == usual {
		return m.pick(nil, nil, "12", "abc", "", int64(3), int64(0), bson.A{}, -1.5, 0, 7)
	}
	dec, _ := primitive.ParseDecimal128("2.5")
	return m.pick(nil, "12", "abc", " 7.5 ", "", true, false, math.NaN(), int64(3), int64(0), dec, bson.A{}, bson.A{1, "x"}, bson.D{{Key: "b", Value: 1}},
		primitive.DateTime(86400000), primitive.NewObjectIDFromTimestamp(time.Unix(5, 0)), primitive.Regex{Pattern: "a"}, 0, -1.5, bson.D{}, "0x1F", "1e3")
}

// field adds a field; unless the data is clean it may be missing or odd.
func (m maker) field(d *bson.D, name string, v any) {
	key := name == "user" || name == "status" || name == "sku" || name == "city"
	if m.kind != clean {
		switch m.IntN(8) {
		case 0:
			return
		case 1:
			if v = m.odd(); isArray(v) && key { // an array as key fails
				v = nil
			}
		}
	}
	*d = append(*d, bson.E{Key: name, Value: v})
}

func (m maker) word() string {
	return []string{"red", "green", "blue", "Red", "deep blue", "x", "to be or not"}[m.IntN(7)]
}

func (m maker) amount() any {
	switch m.IntN(4) {
	case 0:
		return int32(m.IntN(50))
	case 1:
		return float64(m.IntN(200)) / 4
	case 2:
		return float64(m.IntN(50))
	}
	return -float64(1 + m.IntN(10))
}

func (m maker) date() primitive.DateTime {
	return primitive.NewDateTimeFromTime(time.Date(2023, time.Month(1+m.IntN(14)), 1+m.IntN(28), m.IntN(24), m.IntN(60), m.IntN(60), m.IntN(1000)*1e6, time.UTC))
}

func (m maker) items() any {
	a := bson.A{}
	for range m.IntN(4) {
		d := bson.D{}
		m.field(&d, "sku", m.pick("a", "b", "c", "d"))
		m.field(&d, "qty", m.amount())
		m.field(&d, "price", m.amount())
		tags := bson.A{}
		for range m.IntN(3) {
			tags = append(tags, m.word())
		}
		m.field(&d, "tags", tags)
		if m.kind != clean && m.IntN(20) == 0 {
			a = append(a, m.odd())
			continue
		}
		a = append(a, d)
	}
	return a
}

func (m maker) tags() any {
	a := bson.A{}
	for range m.IntN(4) {
		if m.kind != clean && m.IntN(10) == 0 {
			a = append(a, m.odd())
			continue
		}
		a = append(a, m.word())
	}
	return a
}

// documents all have the same fields, so that every job can be about them.
func documents(n int, k kind, seed uint64) []bson.D {
	m := maker{rand.New(rand.NewPCG(seed, 7)), k}
	docs := make([]bson.D, n)
	for i := range docs {
		d := bson.D{{Key: "_id", Value: int32(i)}}
		if cat := m.odd(); m.kind != clean && m.IntN(10) == 0 && !isArray(cat) { // an array as key fails
			d = append(d, bson.E{Key: "cat", Value: cat})
		} else {
			d = append(d, bson.E{Key: "cat", Value: m.pick("a", "b", "c", 1, 2.0)})
		}
		m.field(&d, "name", m.word())
		m.field(&d, "amount", m.amount())
		m.field(&d, "qty", int32(m.IntN(5)))
		m.field(&d, "at", m.date())
		m.field(&d, "ts", float64(1.7e9+float64(m.IntN(1000000))))
		m.field(&d, "tags", m.tags())
		m.field(&d, "items", m.items())
		m.field(&d, "status", m.pick("A", "B", "C"))
		m.field(&d, "flag", m.IntN(2) == 0)
		m.field(&d, "user", fmt.Sprintf("u%d", m.IntN(9)))
		c := bson.D{}
		m.field(&c, "city", m.pick("Rome", "Oslo", "Lima"))
		m.field(&c, "zip", m.IntN(9))
		m.field(&d, "address", c)
		s := bson.D{}
		for _, k := range []string{"red", "green", "blue"} {
			if m.IntN(2) == 0 {
				m.field(&s, k, m.amount())
			}
		}
		m.field(&d, "stats", s)
		m.field(&d, "text", m.word()+" "+m.word())
		docs[i] = d
	}
	return docs
}

func isArray(v any) bool {
	switch v.(type) {
	case bson.A, primitive.Regex:
		return true
	}
	return false
}
