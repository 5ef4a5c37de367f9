package cli

import (
	"testing"

	"mrbench/internal/bench"
)

func TestShortBounds(t *testing.T) {
	long := "the end of a long text that goes on and on"
	bounds := []string{
		"MinKey", "12", `"customer number 000334 of the northern region"`, `"customer number 007485 of the northern region"`,
		`("AT", "Sankt Irgendwas an der Sowieso 44")`, `("AT", "Sankt Irgendwas an der Sowieso 260")`, long, "MaxKey",
	}
	want := []string{
		"MinKey", "12", `"customer number 000334 of …`, `"customer number 007485 of …`,
		`("AT", "…an der Sowieso 44")`, `("AT", "…n der Sowieso 260")`, "the end of a long text that…", "MaxKey",
	}
	var pieces []bench.Piece
	for i := range len(bounds) - 1 {
		pieces = append(pieces, bench.Piece{From: bounds[i], To: bounds[i+1]})
	}
	short := shortBounds(pieces)
	for i, b := range bounds {
		got := short[b]
		if n := len([]rune(got)); n > maxBound {
			t.Errorf("%s has %d characters", got, n)
		}
		if got != want[i] {
			t.Errorf("%s is shown as %s, want %s", b, got, want[i])
		}
	}
}
