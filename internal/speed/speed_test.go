package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

func TestMeasuresSavesAndCompares(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "figures.json")
	var out, errs bytes.Buffer
	if err := run(t.Context(), []string{"-docs", "3000", "-dir", t.TempDir(), "-save", saved, "-breakdown"}, &out, &errs); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	f, err := load(saved)
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{stepSeedBefore, stepSeedLoad, stepIndex, stepOpen, stepSplit, stepDistinct, stepFew, stepMerge}, ladder...)
	for _, name := range want {
		if s := f.step(name); s == nil || s.Seconds <= 0 {
			t.Errorf("step %q: %+v", name, s)
		}
		if !strings.Contains(out.String(), name) {
			t.Errorf("the table lacks %q", name)
		}
	}
	if len(f.Steps) != len(want) {
		t.Errorf("%d steps, want %d", len(f.Steps), len(want))
	}
	out.Reset()
	if err := run(t.Context(), []string{"-docs", "3000", "-dir", t.TempDir(), "-compare", saved, "-only", "agg-covered,split"}, &out, &errs); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"agg-covered-ranges", stepSplit, "ratio"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("%q is missing in\n%s", word, out.String())
		}
	}
	if strings.Contains(out.String(), stepSeedBefore) || strings.Contains(out.String(), "mr-sort") {
		t.Errorf("steps that were not asked for:\n%s", out.String())
	}
}

func TestRefusesBadInput(t *testing.T) {
	for _, args := range [][]string{{"-docs", "5"}, {"more"}, {"-runs", "0"}, {"-compare", "/nowhere"}, {"-compare", "speed_test.go"}} {
		if err := run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{}); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

// The innermost function with a rule decides; what serves several ends is its caller's.
func TestPartOfStack(t *testing.T) {
	for _, c := range []struct{ want, stack string }{
		{partJS, "runtime.mallocgc github.com/dop251/goja.(*vm).run mrbench/internal/embedded/script.(*Func).Call mrbench/internal/embedded/mapreduce.(*job).run"},
		{partConvert, "mrbench/internal/embedded/bsonx.Iter mrbench/internal/embedded/script.(*lazy).Get github.com/dop251/goja.(*vm).run"},
		{partWrite, "github.com/golang/snappy.Encode github.com/cockroachdb/pebble/v2/sstable.(*RawColumnWriter).add github.com/cockroachdb/pebble/v2.(*DB).runCompaction"},
		{partRead, "github.com/golang/snappy.Decode github.com/cockroachdb/pebble/v2.(*Iterator).Next mrbench/internal/embedded/store.(*scan).step mrbench/internal/embedded/query.Find"},
		{partGC, "runtime.scanobject runtime.gcBgMarkWorker"},
		{partOther, "runtime.mcall"},
	} {
		s := &profile.Sample{Value: []int64{1, 10}}
		for name := range strings.FieldsSeq(c.stack) {
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		p := &profile.Profile{SampleType: []*profile.ValueType{{}, {}}, Sample: []*profile.Sample{s}}
		if got := parts(p); got[c.want] != 10 {
			t.Errorf("%s: %v, want %s", c.stack, got, c.want)
		}
	}
}
