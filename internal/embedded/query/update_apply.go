package query

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// application is one Apply on its way.
type application struct {
	u      *Update
	filter *Filter
	old    bsonx.Doc
	upsert bool
	root   *tree
	pos    int // array position of the positional operator; -2: not looked for, -1: none
}

func (a *application) id() string {
	return "_id: " + a.old.Get("_id").String()
}

// plain reads a path through documents only, from the document before the update.
func (a *application) plain(parts []string) (bsonx.Value, error) {
	v := bsonx.DocValue(a.old)
	for i, part := range parts {
		if v.Type == typeArray {
			return v, bad("The source and target field for $rename cannot be inside of an array: '%s' in document {%s}", strings.Join(parts[:i], "."), a.id())
		}
		if v.Type != typeObject {
			return bsonx.Value{}, nil
		}
		v = v.Doc().Get(part)
	}
	return v, nil
}

// change applies one operator to its path, or to all paths that $[] stands for.
func (a *application) change(c *change) error {
	if c.source != nil {
		if v, err := a.plain(c.source); err != nil || v.IsMissing() {
			return err
		}
		if _, err := a.plain(c.parts); err != nil {
			return err
		}
	}
	return a.walk(a.root, c, 0)
}

// walk goes down from the tree that stands at parts[:i].
func (a *application) walk(t *tree, c *change, i int) error {
	part := c.parts[i]
	switch {
	case part == "$":
		pos, err := a.position()
		if err != nil {
			return err
		}
		if !t.array {
			return mongoerr.New(mongoerr.PathNotViable, "Cannot apply the positional operator to '%s' in {%s}: it is not an array", strings.Join(c.parts[:i], "."), a.id())
		}
		part = itoa(pos)
	case isElementID(part):
		return a.each(t, c, i)
	}
	return a.step(t, c, i, part)
}

// step goes to or makes the child of that name.
func (a *application) step(t *tree, c *change, i int, part string) error {
	at := t.index(part)
	if i == len(c.parts)-1 {
		return a.modify(t, c, at, part)
	}
	if c.parts[i+1] == "$" {
		if _, err := a.position(); err != nil {
			return err
		}
	}
	if at >= 0 {
		sub := t.open(at)
		if sub == nil {
			if isElementID(c.parts[i+1]) {
				return bad("Cannot apply array updates to non-array element %s: %s", part, t.value(at).String())
			}
			if !c.create {
				return nil
			}
			return mongoerr.New(mongoerr.PathNotViable, "Cannot create field '%s' in element {%s: %s}", c.parts[i+1], part, t.value(at).String())
		}
		return a.walk(sub, c, i+1)
	}
	if !c.create {
		return nil
	}
	if next := c.parts[i+1]; next == "$" || isElementID(next) {
		return bad("The path '%s' must exist in the document in order to apply array updates.", strings.Join(c.parts[:i+1], "."))
	}
	sub := &tree{}
	if err := a.walk(sub, c, i+1); err != nil || len(sub.elems) == 0 {
		return err
	}
	return a.grow(t, c, i, part, treeElem{sub: sub})
}

func (a *application) grow(t *tree, c *change, i int, part string, e treeElem) error {
	if !t.add(part, e) {
		return mongoerr.New(mongoerr.PathNotViable, "Cannot create field '%s' in element {%s: [...]} of {%s}: it is an array", part, strings.Join(c.parts[:i], "."), a.id())
	}
	return nil
}

// modify gives the last component its new value.
func (a *application) modify(t *tree, c *change, at int, part string) error {
	var old bsonx.Value
	if at >= 0 {
		old = t.value(at)
	} else if !c.create {
		return nil
	}
	v, keep, err := c.mod(old, a)
	switch {
	case err != nil || keep:
		return err
	case v.IsMissing():
		if at >= 0 {
			t.remove(at)
		}
		return nil
	case at >= 0:
		t.set(at, v)
		return nil
	}
	return a.grow(t, c, len(c.parts)-1, part, treeElem{val: v})
}

// each applies the change to the elements that $[] or $[id] stands for.
func (a *application) each(t *tree, c *change, i int) error {
	if !t.array {
		return bad("Cannot apply array updates to non-array element %s of {%s}", strings.Join(c.parts[:i], "."), a.id())
	}
	id := c.parts[i][2 : len(c.parts[i])-1]
	var want leaf
	for _, f := range a.u.filters {
		if f.id == id {
			want = f.tests
		}
	}
	for k := range t.elems {
		if id != "" {
			m := matcher{pos: -1}
			ok := want.test(t.value(k), &m)
			if m.err != nil {
				return m.err
			}
			if !ok {
				continue
			}
		}
		if err := a.step(t, c, i, itoa(k)); err != nil {
			return err
		}
	}
	return nil
}

// position is the array position by which the filter matched.
func (a *application) position() (int, error) {
	if a.pos == -2 {
		a.pos = -1
		if a.filter != nil && !a.upsert {
			ok, pos, err := a.filter.matchPosition(a.old)
			if err != nil {
				return 0, err
			}
			if ok {
				a.pos = pos
			}
		}
	}
	if a.pos < 0 {
		return 0, bad("The positional operator did not find the match needed from the query.")
	}
	return a.pos, nil
}

func itoa(n int) string { return string(bsonx.AppendIndex(nil, n)) }
