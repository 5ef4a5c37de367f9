package pipeline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// overDocs runs cases over documents of their own; want leaves out _id where the stages do.
func overDocs(t *testing.T, docs []string, cases []stageCase) {
	t.Helper()
	db := openDB(t)
	insertJSON(t, db, testNS, docs...)
	runCasesOn(t, db, cases)
}

// field runs one window function over documents sorted by t and gives its values.
func field(body string) string {
	return `[{"$setWindowFields": {"sortBy": {"t": 1}, "output": {"r": ` + body + `}}}, {"$project": {"_id": 0, "r": 1}}]`
}

func results(values ...string) []string {
	var out []string
	for _, v := range values {
		out = append(out, `{"r": `+v+`}`)
	}
	return out
}

func TestWindowFunctions(t *testing.T) {
	overDocs(t, []string{`{"_id": 3, "t": 3, "v": 30, "w": "c"}`, `{"_id": 1, "t": 1, "v": 10, "w": "a"}`, `{"_id": 2, "t": 2, "v": 20}`, `{"_id": 4, "t": 5, "v": 5, "w": "c"}`, `{"_id": 5, "t": 5, "v": null, "w": "d"}`},
		[]stageCase{
			{stages: field(`{"$sum": "$v"}`), want: results("65", "65", "65", "65", "65")},
			{stages: field(`{"$sum": "$v", "window": {"documents": ["unbounded", "current"]}}`), want: results("10", "30", "60", "65", "65")},
			{stages: field(`{"$sum": "$v", "window": {"documents": [-1, 0]}}`), want: results("10", "30", "50", "35", "5")},
			{stages: field(`{"$sum": "$v", "window": {"documents": [-1, 1]}}`), want: results("30", "60", "55", "35", "5")},
			{stages: field(`{"$sum": "$v", "window": {"documents": ["current", "unbounded"]}}`), want: results("65", "55", "35", "5", "0")},
			{stages: field(`{"$sum": "$v", "window": {"documents": [1, 2]}}`), want: results("50", "35", "5", "0", "0")},
			{stages: field(`{"$avg": "$v", "window": {"documents": [-1, 0]}}`), want: results("10.0", "15.0", "25.0", "17.5", "5.0")},
			{stages: field(`{"$min": "$v", "window": {"documents": [-1, 1]}}`), want: results("10", "10", "5", "5", "5")},
			{stages: field(`{"$max": "$v", "window": {"documents": [1, 1]}}`), want: results("20", "30", "5", "null", "null")},
			{stages: field(`{"$count": {}, "window": {"documents": [-2, 0]}}`), want: results("1", "2", "3", "3", "3")},
			{stages: field(`{"$push": "$v", "window": {"documents": [-1, 0]}}`), want: results("[10]", "[10, 20]", "[20, 30]", "[30, 5]", "[5, null]")},
			{stages: field(`{"$addToSet": "$w", "window": {"documents": [-1, 0]}}`), want: results(`["a"]`, `["a"]`, `["c"]`, `["c"]`, `["c", "d"]`)},
			{stages: field(`{"$first": "$w", "window": {"documents": [-1, 0]}}`), want: results(`"a"`, `"a"`, `null`, `"c"`, `"c"`)},
			{stages: field(`{"$last": "$v", "window": {"documents": [1, 2]}}`), want: results(`30`, `5`, `null`, `null`, `null`)},
			{stages: field(`{"$topN": {"n": 1, "sortBy": {"v": -1}, "output": "$v"}, "window": {"documents": [-2, 0]}}`), want: results("[10]", "[20]", "[30]", "[30]", "[30]")},
			{stages: field(`{"$lastN": {"n": 2, "input": "$v"}, "window": {"documents": [-2, 0]}}`), want: results("[10]", "[10, 20]", "[20, 30]", "[30, 5]", "[5, null]")},
			{stages: field(`{"$median": {"input": "$v", "method": "approximate"}, "window": {"documents": [-1, 1]}}`), want: results("10.0", "20.0", "20.0", "5.0", "5.0")},
			{stages: field(`{"$stdDevPop": "$v", "window": {"documents": [-1, 0]}}`), want: results("0.0", "5.0", "5.0", "12.5", "0.0")},
			{stages: field(`{"$covarianceSamp": ["$t", "$v"], "window": {"documents": [-1, 0]}}`), want: results("null", "5.0", "5.0", "-25.0", "null")},
			{stages: field(`{"$rank": {}}`), want: results("1", "2", "3", "4", "4")},
			{stages: field(`{"$denseRank": {}}`), want: results("1", "2", "3", "4", "4")},
			{stages: field(`{"$documentNumber": {}}`), want: results("1", "2", "3", "4", "5")},
			{stages: field(`{"$shift": {"output": "$v", "by": -1, "default": "none"}}`), want: results(`"none"`, "10", "20", "30", "5")},
			{stages: field(`{"$shift": {"output": "$w", "by": 1}}`), want: results(`null`, `"c"`, `"c"`, `"d"`, `null`)},
			{stages: field(`{"$locf": "$w"}`), want: results(`"a"`, `"a"`, `"c"`, `"c"`, `"d"`)},
			{stages: field(`{"$expMovingAvg": {"input": "$v", "N": 3}}`), want: results("10.0", "15.0", "22.5", "13.75", "13.75")},
			{stages: field(`{"$expMovingAvg": {"input": "$v", "alpha": 0.25}}`), want: results("10.0", "12.5", "16.875", "13.90625", "13.90625")},
			{stages: field(`{"$sum": "$v", "window": {"range": [-1, 0]}}`), want: results("10", "30", "50", "5", "5")},
			{stages: field(`{"$sum": "$v", "window": {"range": [-2.5, -1]}}`), want: results("0", "10", "30", "30", "30")},
			{stages: field(`{"$sum": "$v", "window": {"range": ["current", "current"]}}`), want: results("10", "20", "30", "5", "5")},
			{stages: field(`{"$count": {}, "window": {"range": [1, "unbounded"]}}`), want: results("4", "3", "2", "0", "0")},
			{
				stages: `[{"$setWindowFields": {"partitionBy": "$w", "sortBy": {"t": -1}, "output": {"n": {"$documentNumber": {}}, "s.t": {"$sum": "$v"}}}}, {"$project": {"v": 0, "t": 0}}]`,
				want:   []string{`{"_id": 2, "n": 1, "s": {"t": 20}}`, `{"_id": 1, "w": "a", "n": 1, "s": {"t": 10}}`, `{"_id": 4, "w": "c", "n": 1, "s": {"t": 35}}`, `{"_id": 3, "w": "c", "n": 2, "s": {"t": 35}}`, `{"_id": 5, "w": "d", "n": 1, "s": {"t": 0}}`}, code: 0,
			},
			{
				stages: `[{"$setWindowFields": {"partitionBy": {"$gt": ["$t", 2]}, "output": {"n": {"$count": {}}}}}, {"$project": {"n": 1}}, {"$sort": {"_id": 1}}]`,
				want:   []string{`{"_id": 1, "n": 2}`, `{"_id": 2, "n": 2}`, `{"_id": 3, "n": 3}`, `{"_id": 4, "n": 3}`, `{"_id": 5, "n": 3}`},
			},
		})
}

func TestWindowErrors(t *testing.T) {
	overDocs(t, []string{`{"_id": 1, "t": 1, "a": [1]}`, `{"_id": 2, "t": "x"}`}, []stageCase{
		{stages: `[{"$setWindowFields": "invalid"}]`, code: 9},
		{stages: `[{"$setWindowFields": {"sortBy": "invalid", "output": {}}}]`, code: 14},
		{stages: `[{"$setWindowFields": {"output": "invalid"}}]`, code: 14},
		{stages: `[{"$setWindowFields": {"partitionBy": {"$notAnOperator": 1}, "output": {}}}]`, code: 168},
		{stages: `[{"$setWindowFields": {"what_is_this": 1}}]`, code: 40415},
		{stages: `[{"$setWindowFields": {"sortBy": {"t": 1}}}]`, code: 40414},
		{stages: `[{"$_internalSetWindowFields": {"output": {}}}]`, code: 40324},
		{stages: field(`{"abcde": 1}`), code: 9},
		{stages: field(`{}`), code: 9},
		{stages: field(`{"$mergeObjects": "$a"}`), code: 9},
		{stages: field(`{"$summ": "$a"}`), code: 9},
		{stages: field(`{"$sum": "$a", "windoww": 1}`), code: 9},
		{stages: field(`{"$sum": "$a", "$max": 1}`), code: 9},
		{stages: field(`{"$sum": 1, "window": {"documents": [{"$const": "current"}, 3]}}`), code: 9},
		{stages: field(`{"$sum": 1, "window": {"documents": [1.5, 3]}}`), code: 9},
		{stages: field(`{"$sum": 1, "window": {"documents": [1, 3], "range": [1, 2]}}`), code: 9},
		{stages: field(`{"$sum": 1, "window": {"documents": [1, -1]}}`), code: 5339900},
		{stages: field(`{"$sum": 1, "window": {"range": ["current", -1], "unit": "day"}}`), code: 5339900},
		{stages: field(`{"$sum": 1, "window": {"range": [1, 2], "unit": "fortnight"}}`), code: 9},
		{stages: `[{"$setWindowFields": {"output": {"v": {"$sum": 1, "window": {"documents": ["unbounded", "current"]}}}}}]`, code: 5339901},
		{stages: `[{"$setWindowFields": {"sortBy": {"a": 1, "b": 1}, "output": {"v": {"$sum": 1, "window": {"range": ["unbounded", "unbounded"]}}}}}]`, code: 5339902},
		{stages: `[{"$setWindowFields": {"output": {"a": {"$sum": 1}, "a.b": {"$sum": 1}}}}]`, code: 6307900},
		{stages: `[{"$setWindowFields": {"partitionBy": "$a", "output": {"r": {"$sum": 1}}}}]`, code: 14},
		{stages: `[{"$setWindowFields": {"partitionBy": [1], "output": {"r": {"$sum": 1}}}}]`, code: 14},
		{stages: field(`{"$max": 5, "window": {"range": [3, "unbounded"]}}`), code: 5429414},
		{stages: field(`{"$max": 5, "window": {"range": [3, "unbounded"], "unit": "hour"}}`), code: 5429413},
		{stages: field(`{"$rank": {}, "window": {}}`), code: 5371601},
		{stages: field(`{"$rank": 1}`), code: 5371603},
		{stages: `[{"$setWindowFields": {"output": {"r": {"$rank": {}}}}}]`, code: 5371602},
		{stages: field(`{"$expMovingAvg": {"input": "$t", "N": 2, "alpha": 0.5}}`), code: 9},
		{stages: field(`{"$expMovingAvg": {"input": "$t", "alpha": 1}}`), code: 9},
		{stages: field(`{"$shift": {"output": "$t"}}`), code: 9},
		{stages: field(`{"$shift": {"output": "$t", "by": 1.5}}`), code: 9},
		{stages: field(`{"$derivative": {"input": "$t"}}`), code: 9},
		{stages: field(`{"$derivative": {"input": "$t", "unit": "month"}, "window": {"documents": [-1, 0]}}`), code: 5490710},
		{stages: field(`{"$derivative": {"input": "$t", "unit": "hour"}, "window": {"documents": [-1, 0]}}`), code: 5624900},
		{stages: field(`{"$integral": {"input": "$t", "unit": "hour"}}`), code: 5423901},
		{stages: field(`{"$linearFill": "$t", "window": {}}`), code: 9},
		{stages: field(`{"$linearFill": "$t"}`), code: 14},
	})
}

// TestOverTime: what a server answers for points of a curve.
func TestOverTime(t *testing.T) {
	overDocs(t, []string{`{"_id": 1, "t": 0, "y": 100}`, `{"_id": 2, "t": 1, "y": 105}`, `{"_id": 3, "t": 2, "y": 108}`, `{"_id": 4, "t": 3, "y": 108}`, `{"_id": 5, "t": 4, "y": 115}`}, []stageCase{
		{stages: field(`{"$derivative": {"input": "$y"}, "window": {"documents": [-3, 1]}}`), want: results("5.0", "4.0", "2.6666666666666665", "3.75", "3.3333333333333335")},
		{stages: field(`{"$derivative": {"input": "$y"}, "window": {"range": [-1, 0]}}`), want: results("null", "5.0", "3.0", "0.0", "7.0")},
		{stages: field(`{"$integral": {"input": "$y"}, "window": {"documents": [-1, 0]}}`), want: results("0.0", "102.5", "106.5", "108.0", "111.5")},
		{stages: field(`{"$integral": {"input": "$y"}}`), want: results("428.5", "428.5", "428.5", "428.5", "428.5")},
		{stages: field(`{"$integral": {"input": "$y"}, "window": {"range": [-0.5, -0.5]}}`), want: results("null", "null", "null", "null", "null")},
	})
	day := func(s string) string { return `{"$date": "2020-01-01T00:00:` + s + `Z"}` }
	overDocs(t, []string{`{"_id": 201, "t": ` + day("00") + `, "y": 10}`, `{"_id": 202, "t": ` + day("10") + `, "y": 12}`, `{"_id": 203, "t": ` + day("11") + `, "y": 15}`, `{"_id": 204, "t": ` + day("20") + `, "y": 30}`}, []stageCase{
		{stages: field(`{"$derivative": {"input": "$y", "unit": "second"}, "window": {"range": [-10, 0], "unit": "second"}}`), want: results("null", "0.2", "3.0", "1.8")},
		{stages: field(`{"$derivative": {"input": "$y"}, "window": {"documents": [-1, 0]}}`), code: 5624901},
		{stages: field(`{"$integral": {"input": "$y", "unit": "second"}, "window": {"documents": [-1, 0]}}`), want: results("0.0", "110.0", "13.5", "202.5")},
		{stages: field(`{"$sum": "$y", "window": {"range": [-10, 0], "unit": "second"}}`), want: results("10", "22", "27", "57")},
		{stages: field(`{"$count": {}, "window": {"range": ["unbounded", 1], "unit": "minute"}}`), want: results("4", "4", "4", "4")},
		{stages: field(`{"$sum": "$y", "window": {"range": [-10, 0]}}`), code: 5429414},
	})
}

func TestLinearFill(t *testing.T) {
	overDocs(t, []string{`{"_id": 6, "t": 0.5, "y": 0}`, `{"_id": 7, "t": 1, "y": null}`, `{"_id": 99, "t": 4.384}`, `{"_id": 8, "t": 9, "y": null}`, `{"_id": 9, "t": 10.09283, "y": 11.28374}`, `{"_id": 10, "t": 11, "y": null}`}, []stageCase{
		{stages: field(`{"$linearFill": "$y"}`), want: results("0", "0.5881340542884634", "4.5686253337127845", "9.998278922903879", "11.28374", "null")},
	})
	overDocs(t, []string{`{"_id": 11, "p": 1, "t": 1, "y": null}`, `{"_id": 12, "p": 1, "t": 1, "y": 2}`}, []stageCase{{stages: field(`{"$linearFill": "$y"}`), code: 6050106}})
}

func TestFill(t *testing.T) {
	overDocs(t, []string{`{"_id": 1, "p": "a", "t": 1, "y": 1}`, `{"_id": 2, "p": "a", "t": 2, "y": null}`, `{"_id": 3, "p": "a", "t": 3, "y": 5, "z": 7}`, `{"_id": 4, "p": "b", "t": 4}`, `{"_id": 5, "p": "b", "t": 5, "y": 9}`}, []stageCase{
		{
			stages: `[{"$fill": {"sortBy": {"t": 1}, "partitionByFields": ["p"], "output": {"y": {"method": "linear"}, "z": {"value": "$t"}}}}]`,
			want:   []string{`{"_id": 1, "p": "a", "t": 1, "y": 1, "z": 1}`, `{"_id": 2, "p": "a", "t": 2, "y": 3.0, "z": 2}`, `{"_id": 3, "p": "a", "t": 3, "y": 5, "z": 7}`, `{"_id": 4, "p": "b", "t": 4, "y": null, "z": 4}`, `{"_id": 5, "p": "b", "t": 5, "y": 9, "z": 5}`},
		},
		{
			stages: `[{"$fill": {"sortBy": {"t": 1}, "output": {"y": {"method": "locf"}}}}, {"$project": {"y": 1}}]`,
			want:   []string{`{"_id": 1, "y": 1}`, `{"_id": 2, "y": 1}`, `{"_id": 3, "y": 5}`, `{"_id": 4, "y": 5}`, `{"_id": 5, "y": 9}`},
		},
		{stages: `[{"$fill": {"output": {}}}]`, code: 6050203},
		{stages: `[{"$fill": {"output": {"a": 1}}}]`, code: 6050200},
		{stages: `[{"$fill": {"output": {"a": {"method": "locf", "value": 1}}}}]`, code: 6050201},
		{stages: `[{"$fill": {"output": {"a": {"method": "guess"}}}}]`, code: 6050202},
		{stages: `[{"$fill": {"partitionBy": "$a", "partitionByFields": ["a"], "output": {"a": {"value": 1}}}}]`, code: 6050204},
		{stages: `[{"$fill": 1}]`, code: 9},
	})
}

// TestWindowLaw: over random documents, windows and functions, each value is what a $group of the window's documents gives.
func TestWindowLaw(t *testing.T) {
	db := openDB(t)
	r := rand.New(rand.NewPCG(7, 7))
	var docs []string
	for i := range 300 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d, "p": %d, "t": %d, "v": %s}`, i, r.IntN(3), r.IntN(60), []string{fmt.Sprint(r.IntN(100)), fmt.Sprintf("%d.25", r.IntN(100)), "null", `"s"`}[r.IntN(4)]))
	}
	insertJSON(t, db, testNS, docs...)
	sorted := aggregate(t, db, `[{"$sort": {"p": 1, "t": 1, "_id": 1}}]`)
	ops := []string{
		`{"$sum": "$v"}`, `{"$avg": "$v"}`, `{"$min": "$v"}`, `{"$max": "$v"}`, `{"$push": "$v"}`, `{"$count": {}}`, `{"$firstN": {"n": 2, "input": "$v"}}`, `{"$lastN": {"n": 2, "input": "$v"}}`,
		`{"$bottom": {"sortBy": {"v": 1}, "output": "$v"}}`, `{"$percentile": {"input": "$v", "p": [0.25, 1], "method": "approximate"}}`,
	}
	for range 60 {
		op := ops[r.IntN(len(ops))]
		ranged := r.IntN(2) == 0
		lo := r.IntN(9) - 5
		hi := lo + r.IntN(6)
		lower, upper := fmt.Sprint(lo), fmt.Sprint(hi)
		if r.IntN(5) == 0 {
			lower, lo = `"unbounded"`, -1000
		}
		if r.IntN(5) == 0 {
			upper, hi = `"unbounded"`, 1000
		}
		kind, sort := "documents", `{"t": 1, "_id": 1}`
		if ranged {
			kind, sort = "range", `{"t": 1}`
		}
		window := fmt.Sprintf(`"window": {"%s": [%s, %s]}`, kind, lower, upper)
		spec := strings.TrimSuffix(op, "}") + ", " + window + "}"
		stages := `[{"$sort": {"_id": 1}}, {"$setWindowFields": {"partitionBy": "$p", "sortBy": ` + sort + `, "output": {"r": ` + spec + `}}}]`
		got := aggregate(t, db, stages)
		if len(got) != len(sorted) {
			t.Fatalf("%s: %d documents", stages, len(got))
		}
		for i, d := range got {
			var in []bsonx.Value
			for j, o := range got {
				if bsonx.Compare(o.Get("p"), d.Get("p")) != 0 {
					continue
				}
				at := j - i
				if ranged {
					at = int(o.Get("t").Int32() - d.Get("t").Int32())
				}
				if at >= lo && at <= hi {
					in = append(in, o.Get("_id"))
				}
			}
			if i%7 != 0 {
				continue
			}
			want := groupOf(t, db, in, op)
			if text(doc(t, `{"r": 1}`)) == "" || bsonx.Compare(want, d.Get("r")) != 0 || want.Type != d.Get("r").Type {
				t.Fatalf("%s\n%s: got %s, want %s of %v", stages, text(d), d.Get("r"), want, in)
			}
		}
	}
}

// groupOf groups the documents with the given ids, in that order.
func groupOf(t *testing.T, db *store.DB, ids []bsonx.Value, op string) bsonx.Value {
	t.Helper()
	if len(ids) == 0 {
		return aggregate(t, db, `[{"$limit": 1}, {"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"r": `+strings.TrimSuffix(op, "}")+`, "window": {"documents": [5, 6]}}}}}]`)[0].Get("r")
	}
	stages := bsonx.Array(
		makeStage("$match", makeDoc("_id", makeDoc("$in", bsonx.Array(ids...)))),
		makeStage("$set", makeDoc("at", makeDoc("$indexOfArray", bsonx.Array(bsonx.Array(ids...), bsonx.String("$_id"))))),
		makeStage("$sort", makeDoc("at", bsonx.Int32(1))),
		makeStage("$group", makeDoc("_id", null, "r", bsonx.DocValue(doc(t, op)))))
	got, err := runAll(bsonx.Doc(stages.Data), options(db))
	if err != nil || len(got) != 1 {
		t.Fatalf("group %v: %v", ids, err)
	}
	return got[0].Get("r")
}

// TestWindowMemory: a partition beyond the limit goes to disk, or is refused.
func TestWindowMemory(t *testing.T) {
	db := openDB(t)
	pad := strings.Repeat("x", 2000)
	var docs []string
	for i := range 2000 {
		docs = append(docs, fmt.Sprintf(`{"_id": %d, "t": %d, "s": "%s"}`, i, i, pad))
	}
	insertJSON(t, db, testNS, docs...)
	stages := array(t, `[{"$setWindowFields": {"sortBy": {"t": 1}, "output": {"n": {"$sum": "$t", "window": {"documents": [-1500, 0]}}}}}, {"$match": {"t": 1999}}, {"$project": {"n": 1, "len": {"$strLenCP": "$s"}}}]`)
	o := options(db)
	o.MemoryLimit = 1 << 20
	got, err := runAll(stages, o)
	if err != nil || len(got) != 1 || text(got[0]) != text(doc(t, `{"_id": 1999, "n": 1874749, "len": 2000}`)) {
		t.Fatalf("%v, %v", texts(got), err)
	}
	o.AllowDiskUse = false
	if _, err := runAll(stages, o); mongoerr.CodeOf(err) != mongoerr.QueryExceededMemoryLimit { // the sort comes first
		t.Errorf("without disk: %v", err)
	}
	index(t, db, testNS, `{"key": {"t": 1}, "name": "t_1"}`)
	if _, err := runAll(stages, o); mongoerr.CodeOf(err) != errPartitionSize {
		t.Errorf("without disk, sorted by an index: %v", err)
	}
}
