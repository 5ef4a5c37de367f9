package jobfile

import "testing"

func TestEmitKey(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"emit(this.user, 1);", "user"},
		{"if (this.a > 1) { emit(this.user.id, this.a); }", "user.id"},
		{"emit(this.user, 1); emit(this.user, 2);", "user"},
		{"emit(this.user, 1); emit(this.cat, 2);", ""},
		{"this.tags.forEach(function (t) { emit(t, 1); });", ""},
		{"this.tags.forEach(function (t) { emit(this.x, 1); });", ""},
		{"this.tags.forEach((t) => { emit(this.x, 1); });", "x"},
		{"emit({u: this.user}, 1);", ""},
		{"emit(this[\"user\"], 1);", ""},
		{"var key = this.user; emit(key, 1);", ""},
		{"return 1;", ""},
		{"emit();", ""},
		{"not JavaScript", ""},
	} {
		j := &Job{Map: Function{Text: "function () { " + c.body + " }", Line: 1, Column: 1}}
		if got := j.EmitKey(); got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}
