package query

import (
	"slices"
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

type updateParser struct {
	u *Update
	p parser
}

func failed(format string, args ...any) error {
	return mongoerr.New(mongoerr.FailedToParse, format, args...)
}

func (up *updateParser) operators(d bsonx.Doc) error {
	for it := d.Iter(); it.Next(); {
		op, v := string(it.Name()), it.Value()
		if !knownOperator(op) {
			return failed("Unknown modifier: %s", op)
		}
		if v.Type != typeObject {
			return failed("Modifiers operate on fields but we found type %s instead. For example: {$mod: {<field>: ...}} not {%s: %s}", bsonx.TypeName(v.Type), op, v.String())
		}
		if v.Doc().Len() == 0 {
			return failed("'%s' is empty. You must specify a field like so: {%s: {<field>: ...}}", op, op)
		}
		for f := v.Elems(); f.Next(); {
			if err := up.field(op, string(f.Name()), f.Value()); err != nil {
				return err
			}
		}
	}
	// a document's new fields come in the order of their paths, whatever the order in the command
	slices.SortStableFunc(up.u.changes, func(a, b *change) int { return comparePaths(a.parts, b.parts) })
	return up.conflicts()
}

func knownOperator(op string) bool {
	switch op {
	case "$set", "$unset", "$inc", "$mul", "$min", "$max", "$rename", "$setOnInsert", "$currentDate",
		"$push", "$addToSet", "$pop", "$pull", "$pullAll", "$bit":
		return true
	}
	return false
}

// comparePaths orders by component: numbers by value, the others by their bytes.
func comparePaths(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		if i, j := arrayIndex(x), arrayIndex(y); i >= 0 && j >= 0 {
			return i - j
		}
		return strings.Compare(x, y)
	})
}

func (up *updateParser) conflicts() error {
	for i, c := range up.u.changes {
		for _, o := range up.u.changes[:i] {
			n := min(len(c.parts), len(o.parts))
			if slices.Equal(c.parts[:n], o.parts[:n]) {
				return mongoerr.New(mongoerr.ConflictingUpdateOps, "Updating the path '%s' would create a conflict at '%s'", c.path, strings.Join(c.parts[:n], "."))
			}
		}
	}
	return nil
}

// path checks and cuts the path of an operator.
func (up *updateParser) path(path string) ([]string, error) {
	if path == "" {
		return nil, mongoerr.New(codeEmptyFieldName, "An empty update path is not valid.")
	}
	parts := strings.Split(path, ".")
	for i, part := range parts {
		switch {
		case part == "":
			return nil, mongoerr.New(codeEmptyFieldName, "The update path '%s' contains an empty field name, which is not allowed.", path)
		case part == "$" || isElementID(part):
			if i == 0 {
				return nil, bad("Cannot have positional (i.e. '%s') element in the first position in path '%s'", part, path)
			}
			if id := part[1:]; len(id) > 2 {
				if err := up.useFilter(id[1:len(id)-1], path); err != nil {
					return nil, err
				}
			}
		case part[0] == '$' && (i == 0 || part != "$id" && part != "$ref" && part != "$db"):
			return nil, mongoerr.New(mongoerr.DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s' is not valid for storage.", part, path)
		}
	}
	return parts, nil
}

// isElementID: $[] or $[id].
func isElementID(part string) bool {
	return strings.HasPrefix(part, "$[") && strings.HasSuffix(part, "]")
}

func (up *updateParser) useFilter(id, path string) error {
	for i := range up.u.filters {
		if up.u.filters[i].id == id {
			up.u.filters[i].used = true
			return nil
		}
	}
	return bad("No array filter found for identifier '%s' in path '%s'", id, path)
}

func (up *updateParser) field(op, path string, v bsonx.Value) error {
	parts, err := up.path(path)
	if err != nil {
		return err
	}
	c := &change{op: op, path: path, parts: parts, create: true}
	switch op {
	case "$set", "$setOnInsert":
		c.onInsert = op == "$setOnInsert"
		c.mod = func(bsonx.Value, *application) (bsonx.Value, bool, error) { return v, false, nil }
	case "$unset":
		c.create = false
		c.mod = func(bsonx.Value, *application) (bsonx.Value, bool, error) { return bsonx.Value{}, false, nil }
	case "$inc", "$mul":
		c.mod, err = arithmetic(op, path, v)
	case "$min", "$max":
		c.mod = extreme(op == "$max", v)
	case "$currentDate":
		c.mod, err = up.currentDate(v)
	case "$rename":
		return up.rename(c, v)
	case "$push":
		c.mod, err = up.push(path, v)
	case "$addToSet":
		c.mod, err = addToSet(path, v)
	case "$pop":
		c.create = false
		c.mod, err = pop(path, v)
	case "$pull":
		c.create = false
		c.mod, err = up.pull(v)
	case "$pullAll":
		c.create = false
		c.mod, err = pullAll(v)
	case "$bit":
		c.mod, err = bit(path, v)
	}
	if err != nil {
		return err
	}
	c.unstorable = badOperand(op, path, v)
	up.u.changes = append(up.u.changes, c)
	return nil
}

// rename is two changes: the new path is set to what the old one has, the old one is removed.
func (up *updateParser) rename(c *change, v bsonx.Value) error {
	if v.Type != typeString {
		return bad("The 'to' field for $rename must be a string: %s: %s", c.path, v.String())
	}
	to := v.Str()
	toParts, err := up.path(to)
	if err != nil {
		return err
	}
	if to == c.path {
		return bad("The source and target field for $rename must differ: %s: %q", c.path, to)
	}
	if covers(c.path, to) || covers(to, c.path) {
		return bad("The source and target field for $rename must not be on the same path: %s: %q", c.path, to)
	}
	for _, p := range [][]string{c.parts, toParts} {
		for _, part := range p {
			if part == "$" || isElementID(part) {
				return bad("The source and target field for $rename may not be dynamic: %s", strings.Join(p, "."))
			}
		}
	}
	from := c.parts
	set := &change{op: "$rename", path: to, parts: toParts, create: true}
	set.mod = func(_ bsonx.Value, at *application) (bsonx.Value, bool, error) {
		src, err := at.plain(from)
		if err == nil {
			_, err = at.plain(toParts[:len(toParts)-1])
		}
		return src, src.IsMissing(), err
	}
	// a missing source must not make the documents on the way to the target
	set.source = from
	c.create = false
	c.mod = func(bsonx.Value, *application) (bsonx.Value, bool, error) { return bsonx.Value{}, false, nil }
	up.u.changes = append(up.u.changes, set, c)
	return nil
}
