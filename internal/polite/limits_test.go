package polite

import (
	"strings"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct{ list, want, err string }{
		{"lag=10s,queue=20,cache-dirty=15%,cache-used=90%,threads=2,tickets=16", "lag=10s,queue=20,cache-dirty=15%,cache-used=90%,tickets=16,threads=2", ""},
		{"default", defaults, ""},
		{"threads=3, default ,queue=5", strings.Replace(defaults, "queue=20", "queue=5", 1) + ",threads=3", ""},
		{"default,lag=off,tickets=12.5%,rest=1500ms", "queue=20,cache-dirty=15%,cache-used=95%,tickets=12.5%,connections=90%,rest=1.5s", ""},
		{"queue=0", "queue=0", ""},
		{"threads=2,threads=off,rest=1s,rest=off", "", ""},
		{"shards=off,default,queue=5", strings.Replace(defaults, "queue=20", "queue=5", 1) + ",shards=off", ""},
		{"queue=5,shards=off,shards=on", "queue=5", ""},
		{"shards=2", "", "shards=2: it is on, the default, or off"},
		{"lag", "", `"lag": it is default, or a list of lag, queue,`},
		{"", "", "such as lag=10s,queue=20"},
		{"lags=1s", "", "lags=1s: there is no such limit; there are lag, queue, cache-dirty"},
		{"lag=10", "", "lag=10: it is a time such as 10s"},
		{"lag=-1s", "", "it is a time such as 10s"},
		{"queue=20%", "", "it is a number of operations"},
		{"queue=1.5", "", "it is a number of operations"},
		{"cache-dirty=15", "", "it is a percentage such as 15%"},
		{"cache-used=101%", "", "it is a percentage"},
		{"connections=NaN%", "", "it is a percentage"},
		{"tickets=100%", "", "it is the least number of free tickets"},
		{"threads=0", "", "it is a whole number from 1"},
		{"rest=1", "", "it is a time such as 500ms"},
	} {
		l, err := Limits{}.With(c.list)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.list, err, c.err)
			}
			continue
		}
		if err != nil || l.String() != c.want {
			t.Errorf("%q: %q %v, want %q", c.list, l, err, c.want)
		}
		if l.String() != "" {
			if again, err := (Limits{}).With(l.String()); err != nil || again != l {
				t.Errorf("%q is read as %v %v", l, again, err)
			}
		}
	}
	n := Nice(5)
	if n.Threads != 2 || n.Rest != 500*time.Millisecond || !n.Watches() || Nice(1).Threads != 1 {
		t.Errorf("%v", n)
	}
	if (Limits{Threads: 2, Rest: 1}).Watches() {
		t.Error("nothing is to be watched")
	}
}
