package command

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

// TestRules: every command has a line that says who may use it, no line is without its command, and what
// may come before a login in the old form needs none.
func TestRules(t *testing.T) {
	table, rules := newTable(), rules()
	for _, cmd := range table.list {
		r, ok := rules[cmd.name]
		if !ok {
			t.Errorf("%s: nobody may use it", cmd.name)
		}
		n := 0
		for _, set := range []bool{r.open, r.anyone, r.oneOf != 0, r.check != nil} {
			if set {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d conditions", cmd.name, n)
		}
		if cmd.legacy && !r.open {
			t.Errorf("%s may come as OP_QUERY, which is not checked", cmd.name)
		}
		if r.open && (cmd.writes || cmd.explains) {
			t.Errorf("%s is open to strangers", cmd.name)
		}
		delete(rules, cmd.name)
	}
	for name := range rules {
		t.Errorf("%s is no command", name)
	}
}

// TestPasswordsAreNotShown: currentOp shows the commands that carry secrets without them.
func TestPasswordsAreNotShown(t *testing.T) {
	s := testServer(t, nil)
	c := s.NewSession("test")
	defer c.Close()
	shown := map[string]string{}
	s.before = func(name string) {
		for _, d := range s.ops.documents(false, nil) {
			shown[name] += bson.Raw(d).String()
		}
	}
	ask(t, c, bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "geheim"}, {Key: "roles", Value: bson.A{"root"}}})
	ask(t, c, bson.D{{Key: "updateUser", Value: "ann"}, {Key: "pwd", Value: "geheim"}})
	ask(t, c, bson.D{{Key: "saslContinue", Value: 1}, {Key: "conversationId", Value: 1}, {Key: "payload", Value: []byte("geheim")}})
	for _, name := range []string{"createUser", "updateUser", "saslContinue"} {
		if text := shown[name]; !strings.Contains(text, name) || strings.Contains(text, "geheim") || strings.Contains(text, "Z2VoZWlt") {
			t.Errorf("%s is shown as %s", name, text)
		}
	}
}
