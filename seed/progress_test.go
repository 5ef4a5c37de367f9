package seed

import "testing"

func TestLeft(t *testing.T) {
	for _, tt := range []struct {
		p    Progress
		want float64
	}{
		{Progress{Phase: PhaseLoad, Total: 100, Documents: 40, Rate: 30, Seconds: 4}, 2},
		{Progress{Phase: PhaseLoad, Total: 100, Documents: 40, Seconds: 4}, 6},                         // nothing moves: by the average
		{Progress{Phase: PhaseLoad, ReadTotal: 1000, Read: 900, ReadRate: 50, Rate: 1, Seconds: 9}, 2}, // files, by their bytes
		{Progress{Phase: PhaseLoad, Read: 900, ReadRate: 50, Rate: 1, Seconds: 9}, 0},                  // standard input: nobody knows
		{Progress{Phase: PhaseIndex, Total: 100, Documents: 40, Rate: 30, Seconds: 4}, 0},
	} {
		if got := tt.p.Left(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.p, got, tt.want)
		}
	}
}
