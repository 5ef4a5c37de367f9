package cli

import "testing"

// The command that goes on is this one, wherever the flags that all commands have stand.
func TestSameCommand(t *testing.T) {
	for want, args := range map[string][]string{
		"mrbench seed --append --docs 5":                                 {"seed", "--docs", "5", "--drop"},
		"mrbench --mongod /bin/mongod seed --append --docs 5":            {"--mongod", "/bin/mongod", "seed", "--drop", "--docs", "5"},
		"mrbench --ns a.b run --append --docs 5":                         {"--ns", "a.b", "run", "--docs", "5", "--shard-key", "x"},
		"mrbench --uri 'mongodb://u:***@h/' seed --append --from a.bson": {"--uri", "mongodb://u:p@h/", "seed", "--from", "a.bson"},
	} {
		a := &app{env: Env{Args: args}}
		if got := a.sameCommand([]string{"drop", "shard-key"}, "--append"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
