package translate

import (
	"strings"
)

// classifyBag recognizes acc[k] = (acc[k] || 0) + item[k] in a loop over the names in item.
func (x *exec) classifyBag(f *fold, item string) bool {
	s := f.step
	if s.op != "bagloop" || s.args[1].path != item {
		return false
	}
	return bagStep(s.args[2])
}

func bagStep(s *val) bool {
	key := func(v *val) bool { return v.name == "key" }
	value := func(v *val) bool {
		return v.elem && strings.HasSuffix(v.path, ".v") || v.op == "||" && v.args[0].elem && strings.HasSuffix(v.args[0].path, ".v")
	}
	get := func(v *val) bool {
		if v.op == "||" && len(v.args) == 2 && v.args[1].isConst && v.args[1].c == float64(0) {
			v = v.args[0]
		}
		if v.op == "?:" && v.args[0].op == "baghas" && v.args[1].op == "bagget" && v.args[2].isConst && v.args[2].c == float64(0) {
			return true
		}
		return v.op == "bagget" && key(v.args[1])
	}
	plus := func(v *val) bool {
		return v.op == "+" && (get(v.args[0]) && value(v.args[1]) || get(v.args[1]) && value(v.args[0]))
	}
	set := func(v *val) *val {
		if v.op == "bagset" && key(v.args[1]) {
			return v.args[2]
		}
		return nil
	}
	if v := set(s); v != nil {
		return plus(v)
	}
	if s.op != "?:" {
		return false
	}
	test, a, b := s.args[0], set(s.args[1]), set(s.args[2])
	neg := false
	for test.op == "!" {
		test, neg = test.args[0], !neg
	}
	if test.op == "==" && test.args[0].op == "bagget" && test.args[1].isConst && test.args[1].k.only(kNullish) {
		test, neg = test.args[0], !neg
	}
	if test.op != "bagget" && test.op != "baghas" {
		return false
	}
	if neg {
		a, b = b, a
	}
	return a != nil && b != nil && plus(a) && value(b)
}
