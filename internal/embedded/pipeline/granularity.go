package pipeline

import (
	"math"
	"slices"

	"mrbench/internal/embedded/bsonx"
)

// rounder moves a boundary to the next number of a series: up to one that is larger, down to one that is smaller. 0 stays.
type rounder interface {
	up(v bsonx.Value) bsonx.Value
	down(v bsonx.Value) bsonx.Value
}

// granularity gives a series of preferred numbers by its name, nil for names that there are not. The numbers are those
// of ISO 3 (R), IEC 60063 (E) and the steps 1, 2, 5 of scales.
func granularity(name string) rounder {
	switch name {
	case "POWERSOF2":
		return powersOf2{}
	case "1-2-5":
		return preferred{10, 20, 50}
	case "R5":
		return preferred{10, 16, 25, 40, 63}
	case "R10":
		return preferred{100, 125, 160, 200, 250, 315, 400, 500, 630, 800}
	case "R20":
		return preferred{100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900}
	case "R40":
		return preferred{
			100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280, 300, 315, 355, 375, 400, 425,
			450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950,
		}
	case "R80":
		return preferred{
			103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290, 307, 325, 345, 365, 387, 412,
			437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875, 925, 975,
		}
	case "E6":
		return preferred{10, 15, 22, 33, 47, 68}
	case "E12":
		return preferred{10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82}
	case "E24":
		return preferred{10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91}
	case "E48":
		return geometric(48)
	case "E96":
		return geometric(96)
	case "E192":
		return geometric(192)
	}
	return nil
}

// geometric is the series of n numbers of three digits that are as evenly spaced as rounding allows. 919 is 920 in the standard.
func geometric(n int) preferred {
	var s preferred
	for i := range n {
		x := math.Round(100 * math.Pow(10, float64(i)/float64(n)))
		if x == 919 {
			x = 920
		}
		s = append(s, x)
	}
	return s
}

// preferred is one decade of a series, ascending.
type preferred []float64

func (s preferred) up(v bsonx.Value) bsonx.Value {
	x, _ := v.AsFloat()
	if x == 0 || math.IsInf(x, 0) {
		return v
	}
	m := 1.0
	for x >= s[len(s)-1]*m {
		m *= 10
	}
	// Between two decades the next number is the first of the higher one.
	for x < s[0]*m && x < s[len(s)-1]*(m/10) {
		m /= 10
	}
	i := slices.IndexFunc(s, func(f float64) bool { return f*m > x })
	return numberLike(v, s[i]*m)
}

func (s preferred) down(v bsonx.Value) bsonx.Value {
	x, _ := v.AsFloat()
	if x == 0 || math.IsInf(x, 0) {
		return v
	}
	m := 1.0
	for x <= s[0]*m {
		m /= 10
	}
	if s[0]*m == 0 {
		return numberLike(v, 0) // there is no smaller double
	}
	for x > s[len(s)-1]*m && x > s[0]*(m*10) {
		m *= 10
	}
	for i := len(s) - 1; ; i-- {
		if f := s[i] * m; f < x {
			return numberLike(v, f)
		}
	}
}

type powersOf2 struct{}

func (powersOf2) up(v bsonx.Value) bsonx.Value {
	x, _ := v.AsFloat()
	if x == 0 || math.IsInf(x, 0) {
		return v
	}
	_, e := math.Frexp(x) // x is in [2^(e-1), 2^e)
	return numberLike(v, math.Ldexp(1, e))
}

func (powersOf2) down(v bsonx.Value) bsonx.Value {
	x, _ := v.AsFloat()
	if x == 0 || math.IsInf(x, 0) {
		return v
	}
	f, e := math.Frexp(x)
	if f == 0.5 {
		e--
	}
	return numberLike(v, math.Ldexp(1, e-1))
}

// numberLike is a double, or a decimal where the value is one.
func numberLike(v bsonx.Value, f float64) bsonx.Value {
	if v.Type == tDecimal {
		return bsonx.Mul(bsonx.Double(f), bsonx.Sub(v, bsonx.Sub(v, bsonx.Int32(1))))
	}
	return bsonx.Double(f)
}

// roundable refuses values that have no place in a series.
func (s *bucketAutoStage) roundable(v bsonx.Value) error {
	if s.series == nil {
		return nil
	}
	f, _ := v.AsFloat()
	switch {
	case !v.IsNumber():
		return errf(40258, "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: %s", typeName(v))
	case math.IsNaN(f):
		return errf(40259, "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN")
	case f < 0:
		return errf(40260, "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number")
	}
	return nil
}

// rounded gives the boundaries of a bucket from its smallest and largest value and the value that follows it, if any.
func (b *bucketer) rounded(lo, hi, next bsonx.Value) (from, to bsonx.Value) {
	from = b.end
	if from.IsMissing() {
		from = b.series.down(lo)
	}
	to = b.series.up(hi)
	// A bucket of zeros ends where the next one may begin.
	if f, _ := to.AsFloat(); f == 0 && !next.IsMissing() {
		to = b.series.down(next)
	}
	b.end = to.Clone()
	return from, b.end
}
