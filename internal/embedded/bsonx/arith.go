package bsonx

import (
	"math"
	"math/bits"
)

// Arithmetic with MongoDB's promotion: int32 grows to int64 and int64 to double when the result does not
// fit; a double makes the result double, a decimal makes it decimal. The callers check IsNumber.

// Add is a + b.
func Add(a, b Value) Value {
	switch widest(a, b) {
	case TypeInt32, TypeInt64:
		x, y := asInt(a), asInt(b)
		s := x + y
		if (s > x) != (y > 0) && y != 0 {
			return Double(farSum(x, magnitude(y)))
		}
		return fitInt(s, a, b)
	case TypeDouble:
		x, _ := a.AsFloat()
		y, _ := b.AsFloat()
		return Double(x + y)
	}
	return decimalOp(a, b, decAdd)
}

// Sub is a - b.
func Sub(a, b Value) Value {
	switch widest(a, b) {
	case TypeInt32, TypeInt64:
		x, y := asInt(a), asInt(b)
		s := x - y
		if (s < x) != (y > 0) && y != 0 {
			return Double(farSum(x, magnitude(y)))
		}
		return fitInt(s, a, b)
	case TypeDouble:
		x, _ := a.AsFloat()
		y, _ := b.AsFloat()
		return Double(x - y)
	}
	return decimalOp(a, b, decSub)
}

// Mul is a × b.
func Mul(a, b Value) Value {
	switch widest(a, b) {
	case TypeInt32, TypeInt64:
		x, y := asInt(a), asInt(b)
		p, ok := mulInt(x, y)
		if !ok {
			return Double(float64(x) * float64(y))
		}
		return fitInt(p, a, b)
	case TypeDouble:
		x, _ := a.AsFloat()
		y, _ := b.AsFloat()
		return Double(x * y)
	}
	return decimalOp(a, b, decMul)
}

// widest is the type of the result before any growth.
func widest(a, b Value) Type {
	for _, t := range [...]Type{TypeDecimal128, TypeDouble, TypeInt64} {
		if a.Type == t || b.Type == t {
			return t
		}
	}
	return TypeInt32
}

// fitInt is n as an int32 when both operands were int32 and it fits.
func fitInt(n int64, a, b Value) Value {
	if a.Type == TypeInt32 && b.Type == TypeInt32 && int64(int32(n)) == n {
		return Int32(int32(n))
	}
	return Int64(n)
}

func asInt(v Value) int64 {
	if v.Type == TypeInt32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func mulInt(x, y int64) (p int64, ok bool) {
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	limit := uint64(math.MaxInt64)
	if (x < 0) != (y < 0) {
		limit++
	}
	return x * y, hi == 0 && lo <= limit
}

// farSum is the double nearest to a sum beyond int64, of x and another operand
// that moves it further from zero by m.
func farSum(x int64, m uint64) float64 {
	f := float64(magnitude(x) + m)
	if f == 0 { // 2^63 + 2^63
		f = 1 << 64
	}
	if x < 0 {
		return -f
	}
	return f
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
