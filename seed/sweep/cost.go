package sweep

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"mrbench/seed"
)

// Cost is what changing one setting, and nothing else, does to the time.
type Cost struct {
	Factor string `json:"factor"`
	From   string `json:"from"`
	To     string `json:"to"`
	// Pairs is the number of matched points; Slower says in how many of them To took longer.
	Pairs  int     `json:"pairs"`
	Slower int     `json:"slower"`
	Ratio  float64 `json:"ratio"` // geometric mean of the time with To over the time with From: below 1 is faster
	Low    float64 `json:"low"`   // the smallest and
	High   float64 `json:"high"`  // the largest of the pairs' ratios
}

// Costs compares, for every setting with several values, each value with the plainest one: no index, one
// writer, and so on; write concerns above 1 are compared with 1. Only complete points take part, and only those whose counterpart does.
func Costs(results []Result) []Cost {
	var costs []Cost
	for _, f := range factors {
		for _, pair := range f.comparisons(results) {
			if c := f.compare(results, pair[0], pair[1]); c.Pairs > 0 {
				costs = append(costs, c)
			}
		}
	}
	return costs
}

// comparisons lists which values of a setting are set against each other, as from and to.
func (f factor) comparisons(results []Result) [][2]string {
	var values []string
	for _, r := range results {
		if v := f.value(r.Point); r.Complete() && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(f.rank(a), f.rank(b)) })
	var list [][2]string
	for i, v := range values {
		switch {
		case i == 0:
		case f.name == FactorWriteConcern && v != "1" && slices.Contains(values, "1"):
			list = append(list, [2]string{"1", v})
		default:
			list = append(list, [2]string{values[0], v})
		}
	}
	if f.name == FactorIndex && len(values) == 3 {
		list = append(list, [2]string{values[1], values[2]})
	}
	return list
}

// rank sorts the values of a setting, the plainest first.
func (f factor) rank(v string) float64 {
	if x, err := strconv.ParseFloat(v, 64); err == nil {
		return x
	}
	plain := []string{"false", string(seed.IndexNone), string(seed.IndexAfter)}
	if i := slices.Index(plain, v); i >= 0 {
		return float64(i)
	}
	return math.MaxInt32 // "true", "before", and write concerns that are words: in the order given
}

func (f factor) compare(results []Result, from, to string) Cost {
	c := Cost{Factor: f.name, From: from, To: to, Low: math.Inf(1)}
	logs := 0.0
	for _, a := range results {
		if f.value(a.Point) != from || !a.Complete() {
			continue
		}
		i := slices.IndexFunc(results, func(b Result) bool {
			return b.Complete() && f.value(b.Point) == to && f.matches(a.Point, b.Point)
		})
		if i < 0 || a.Seconds <= 0 || results[i].Seconds <= 0 {
			continue
		}
		ratio := results[i].Seconds / a.Seconds
		c.Pairs++
		if ratio > 1 {
			c.Slower++
		}
		logs += math.Log(ratio)
		c.Low, c.High = min(c.Low, ratio), max(c.High, ratio)
	}
	if c.Pairs == 0 {
		c.Low = 0
		return c
	}
	c.Ratio = math.Exp(logs / float64(c.Pairs))
	return c
}

// matches says whether two points are alike in every other setting.
func (f factor) matches(a, b Point) bool {
	for _, other := range factors {
		if other.name != f.name && other.value(a) != other.value(b) {
			return false
		}
	}
	return true
}
