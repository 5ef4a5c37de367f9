package libm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

// exact computes with 60 digits and rounds once.
func exact(t *testing.T, f func(c *apd.Context, d *apd.Decimal) (apd.Condition, error)) float64 {
	t.Helper()
	c := apd.BaseContext.WithPrecision(60)
	d := new(apd.Decimal)
	if _, err := f(c, d); err != nil {
		t.Fatal(err)
	}
	r, err := d.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func dec(t *testing.T, f float64) *apd.Decimal {
	t.Helper()
	d, err := new(apd.Decimal).SetFloat64(f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// few is a number with few binary digits, which its decimal text gives in full.
func few(r *rand.Rand, lo, hi float64) float64 {
	return math.Round((lo+r.Float64()*(hi-lo))*1024) / 1024
}

func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		x := few(r, -30, 30)
		if got, want := Exp(x), exact(t, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Exp(d, dec(t, x)) }); got != want {
			t.Errorf("exp %v: %v, want %v", x, got, want)
		}
		x = few(r, 0.001, 50)
		if got, want := Log(x), exact(t, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Ln(d, dec(t, x)) }); got != want {
			t.Errorf("log %v: %v, want %v", x, got, want)
		}
		y := few(r, -6, 6)
		if got, want := Pow(x, y), exact(t, func(c *apd.Context, d *apd.Decimal) (apd.Condition, error) { return c.Pow(d, dec(t, x), dec(t, y)) }); got != want {
			t.Errorf("pow %v %v: %v, want %v", x, y, got, want)
		}
	}
}

// TestRecorded: results of the C library where Go's functions give a neighbour, and the corners.
func TestRecorded(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"exp 10.8", Exp(10.8), 49020.80113638175}, {"exp 22", Exp(22), 3584912846.131592}, {"exp 3.2", Exp(3.2), 24.532530197109352},
		{"exp 0", Exp(0), 1}, {"exp 710", Exp(710), inf}, {"exp -746", Exp(-746), 0}, {"exp -inf", Exp(-inf), 0}, {"exp nan", Exp(nan), nan},
		{"exp -740", Exp(-740), 4.2e-322},
		{"log 3", Log(3), 1.0986122886681098}, {"log 14", Log(14), 2.6390573296152584}, {"log 10", Log(10), 2.302585092994046},
		{"log 1+ulp", Log(1 + 0x1p-52), 2.2204460492503128e-16}, {"log 0", Log(0), -inf}, {"log -1", Log(-1), nan}, {"log 1", Log(1), 0},
		{"log tiny", Log(5e-324), -744.4400719213812}, {"log inf", Log(inf), inf},
		{"log10 86", Log10(86), 1.9344984512435677}, {"log10 1000", Log10(1000), 3},
		{"log10 100", Log10(100), 2}, {"log10 0.01", Log10(0.01), -2}, {"log10 11.5", Log10(11.5), 1.0606978403536118}, {"log10 0", Log10(0), -inf},
		{"pow 1.3 7.5", Pow(1.3, 7.5), 7.15443170448155}, {"pow 21 -1.4", Pow(21, -1.4), 0.01408941584435543},
		{"pow 3 34", Pow(3, 34), 16677181699666568}, {"pow 3 35", Pow(3, 35), 50031545098999704}, {"pow -8 3", Pow(-8, 3), -512},
		{"pow 2 0.5", Pow(2, 0.5), math.Sqrt2}, {"pow -8 0.5", Pow(-8, 0.5), nan}, {"pow 0 0", Pow(0, 0), 1}, {"pow 10 19", Pow(10, 19), 1e19},
		{"pow 2 63", Pow(2, 63), 0x1p63}, {"pow 2 -1074", Pow(2, -1074), 5e-324}, {"pow 2 1024", Pow(2, 1024), inf}, {"pow -2 1023", Pow(-2, 1023), -0x1p1023},
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func BenchmarkPow(b *testing.B) {
	for b.Loop() {
		Pow(19.2, 5.1)
	}
}
