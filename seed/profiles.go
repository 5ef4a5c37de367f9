package seed

import (
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// guids is the data of a published insert test.
type guids struct{ seed, tag uint64 }

// GUID makes {_id: ObjectId, Guid: uuid (binary of subtype 4), Data: 20 letters
// and digits}, 80 bytes each.
func GUID(seed uint64) Generator { return &guids{seed, seedTag(seed)} }

func (*guids) Name() string { return "guid" }

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func (g *guids) Append(dst []byte, i int64) []byte {
	r := newRandom(g.seed, uint64(i))
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsoncore.AppendObjectIDElement(dst, "_id", objectID(g.tag, uint64(i)))
	u := r.uuid()
	dst = bsoncore.AppendBinaryElement(dst, "Guid", 4, u[:])
	mark, dst := startString(dst, "Data")
	dst = appendLetters(dst, &r, 20)
	dst = endString(dst, mark)
	return endDocument(dst, start)
}

func appendLetters(dst []byte, r *random, n int) []byte {
	for ; n > 0; n -= 10 {
		x := r.uint64() // ten letters of six bits
		for range min(n, 10) {
			dst = append(dst, alphabet[x&63])
			x >>= 6
		}
	}
	return dst
}

// people are profile records.
type people struct{ seed, tag uint64 }

// People makes profiles of about 250 bytes: name, email, age, balance, active,
// registered, address and interests.
func People(seed uint64) Generator { return &people{seed, seedTag(seed)} }

func (*people) Name() string { return "people" }

func (g *people) Append(dst []byte, i int64) []byte {
	r := newRandom(g.seed, uint64(i))
	first, last := pick(&r, firstNames), pick(&r, lastNames)
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsoncore.AppendObjectIDElement(dst, "_id", objectID(g.tag, uint64(i)))
	mark, dst := startString(dst, "name")
	dst = append(append(append(dst, first...), ' '), last...)
	dst = endString(dst, mark)
	mark, dst = startString(dst, "email")
	for _, part := range [2]string{first, last} {
		dst = append(dst, part[0]|0x20)
		dst = append(append(dst, part[1:]...), '.')
	}
	dst = appendDigits(dst, r.below(1000))
	dst = append(dst, "@example.org"...)
	dst = endString(dst, mark)
	dst = bsoncore.AppendInt32Element(dst, "age", int32(18+r.below(73)))
	dst = bsoncore.AppendDoubleElement(dst, "balance", float64(r.below(2_000_000))/100)
	dst = bsoncore.AppendBooleanElement(dst, "active", r.below(4) > 0)
	dst = bsoncore.AppendDateTimeElement(dst, "registered", dayOf(&r))
	address, dst := bsoncore.AppendDocumentElementStart(dst, "address")
	mark, dst = startString(dst, "street")
	dst = append(appendDigits(dst, 1+r.below(199)), ' ')
	dst = append(dst, pick(&r, streets)...)
	dst = endString(dst, mark)
	dst = bsoncore.AppendStringElement(dst, "city", pick(&r, cities))
	mark, dst = startString(dst, "zip")
	dst = appendDigits(dst, 10000+r.below(90000))
	dst = endString(dst, mark)
	dst = endDocument(dst, address)
	list, dst := bsoncore.AppendArrayElementStart(dst, "interests")
	at := r.below(uint64(len(interests)))
	for k := range 1 + r.below(3) { // different ones: the step and the list's length share no divisor
		dst = bsoncore.AppendStringElement(dst, alphabet[52+k:53+k], interests[(at+5*k)%uint64(len(interests))])
	}
	dst = endDocument(dst, list)
	return endDocument(dst, start)
}

// dayOf is a millisecond in the ten years from 2014 on.
func dayOf(r *random) int64 {
	const from, years = 1388534400000, 10 * 365 * 24 * 3600 * 1000
	return from + int64(r.below(years))
}

// reviews are texts of varied length.
type reviews struct{ seed, tag, products uint64 }

// Reviews makes {_id, product, reviewer, stars, title, text, date, helpful,
// verified} of about 750 bytes; a text has 30 to some 3,000. Products get
// reviews unevenly: the first quarter of them gets half.
func Reviews(seed uint64) Generator { return &reviews{seed, seedTag(seed), 100_000} }

func (*reviews) Name() string { return "reviews" }

func (g *reviews) Append(dst []byte, i int64) []byte {
	r := newRandom(g.seed, uint64(i))
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsoncore.AppendObjectIDElement(dst, "_id", objectID(g.tag, uint64(i)))
	mark, dst := startString(dst, "product")
	f := r.float()
	dst = appendDigits(append(dst, 'P'), 1_000_000+uint64(f*f*float64(g.products)))
	dst = endString(dst, mark)
	mark, dst = startString(dst, "reviewer")
	dst = append(append(append(dst, pick(&r, firstNames)...), ' '), pick(&r, lastNames)...)
	dst = endString(dst, mark)
	dst = bsoncore.AppendInt32Element(dst, "stars", int32(5-r.below(3)*r.below(3)))
	mark, dst = startString(dst, "title")
	dst = appendText(dst, &r, 10+int(r.below(30)))
	dst = endString(dst, mark)
	mark, dst = startString(dst, "text")
	dst = appendText(dst, &r, max(30, min(3000, int(493*math.Exp(0.6*r.normal())))))
	dst = endString(dst, mark)
	dst = bsoncore.AppendDateTimeElement(dst, "date", dayOf(&r))
	dst = bsoncore.AppendInt32Element(dst, "helpful", int32(r.below(4)*r.below(10)))
	dst = bsoncore.AppendBooleanElement(dst, "verified", r.below(5) > 0)
	return endDocument(dst, start)
}

// appendText appends sentences until there are size bytes, and ends with a full stop.
func appendText(dst []byte, r *random, size int) []byte {
	from, left := len(dst), 0
	for len(dst)-from < size || len(dst) == from {
		w := pick(r, textWords)
		if left == 0 {
			if len(dst) > from {
				dst = append(dst, ". "...)
			}
			left = 4 + int(r.below(12))
			dst = append(dst, w[0]&^0x20)
			w = w[1:]
		} else {
			dst = append(dst, ' ')
		}
		dst = append(dst, w...)
		left--
	}
	return append(dst, '.')
}

// startString begins a string of unknown length; endString ends it.
func startString(dst []byte, key string) (int, []byte) {
	dst = bsoncore.AppendHeader(dst, 0x02, key)
	return len(dst), append(dst, 0, 0, 0, 0)
}

func endString(dst []byte, mark int) []byte {
	dst = append(dst, 0)
	putLength(dst, mark, len(dst)-mark-4)
	return dst
}

func endDocument(dst []byte, start int32) []byte {
	dst = append(dst, 0)
	putLength(dst, int(start), len(dst)-int(start))
	return dst
}

func putLength(dst []byte, at, n int) { binary.LittleEndian.PutUint32(dst[at:], uint32(n)) }

func appendDigits(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }
