package script

import (
	"testing"
)

// TestMathDigits: results where Go's functions give a neighbouring double.
func TestMathDigits(t *testing.T) {
	r := New()
	for text, want := range map[string]any{
		"Math.exp(10.8)": 49020.80113638175, "Math.log(14)": 2.6390573296152584, "Math.log10(86)": 1.9344984512435677,
		"Math.pow(1.3, 7.5)": 7.15443170448155, "Math.pow(2, 0.5)": 1.4142135623730951, "Math.pow(3, 34)": 16677181699666568.0,
		"Math.pow({valueOf: function () { return 2; }}, '3')": int64(8), "Math.pow(-8, 2)": int64(64),
		"isNaN(Math.pow(1, Infinity)) && isNaN(Math.pow(2)) && isNaN(Math.log())": true, "1 / Math.pow(-0, 0.5) === Infinity": true,
	} {
		v, err := r.vm.RunString(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := v.Export(); got != want {
			t.Errorf("%s: %v (%T), want %v", text, got, got, want)
		}
	}
}
