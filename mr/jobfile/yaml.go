package jobfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.yaml.in/yaml/v3"
)

var (
	yamlLine  = regexp.MustCompile(`line (\d+)`)
	plainFile = regexp.MustCompile(`^[\w./-]+\.js$`)
)

// parseYAML reads YAML or JSON into a tree with positions.
func (r *reader) parseYAML(name string, text []byte) (*yaml.Node, error) {
	s := string(text)
	if trimmed := strings.TrimSpace(s); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		s = strings.ReplaceAll(s, "\t", " ") // JSON may be indented by tabs, YAML not
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(s), &doc); err != nil {
		p := Position{File: r.show(name), Line: 1, Column: 1}
		msg := strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(msg); m != nil {
			p.Line, _ = strconv.Atoi(m[1])
			msg = strings.TrimPrefix(msg, m[0]+": ")
		}
		return nil, errorAt(p, "%s", msg)
	}
	if len(doc.Content) == 0 {
		return nil, errorAt(Position{File: r.show(name)}, "the file is empty: a job needs namespace, map and reduce")
	}
	return doc.Content[0], nil
}

// jobKeys are what a job file may hold, with what other forms call them.
var jobKeys = map[string]string{
	"namespace": "namespace", "ns": "namespace", "mapReduce": "namespace", "mapreduce": "namespace",
	"map": "map", "reduce": "reduce", "finalize": "finalize", "scope": "scope", "query": "query", "sort": "sort",
	"limit": "limit", "out": "out", "jsMode": "jsMode", "pipeline": "pipeline", "splitKey": "splitKey", "verbose": "verbose",
}

func knownKeys() string {
	return "namespace, map, reduce, finalize, scope, query, sort, limit, out, jsMode, pipeline, splitKey"
}

func (r *reader) yaml(name string, text []byte) (*Job, error) {
	root, err := r.parseYAML(name, text)
	if err != nil {
		return nil, err
	}
	file := r.show(name)
	if root.Kind != yaml.MappingNode {
		return nil, errorAt(at(file, root), "a job is a mapping of %s", knownKeys())
	}
	j := &Job{}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		key, ok := jobKeys[k.Value]
		if !ok {
			return nil, errorAt(at(file, k), "%q is no part of a job: it has %s", k.Value, knownKeys())
		}
		if seen[key] {
			return nil, errorAt(at(file, k), "%s is given twice", key)
		}
		seen[key] = true
		if v, err = resolved(file, v); err != nil {
			return nil, err
		}
		if err := r.setYAML(j, name, text, key, v); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func at(file string, n *yaml.Node) Position { return Position{file, n.Line, n.Column} }

// resolved follows an alias.
func resolved(file string, n *yaml.Node) (*yaml.Node, error) {
	for range 8 {
		if n.Kind != yaml.AliasNode {
			return n, nil
		}
		n = n.Alias
	}
	return nil, errorAt(at(file, n), "too many aliases of aliases")
}

func (r *reader) setYAML(j *Job, name string, text []byte, key string, v *yaml.Node) error {
	file := r.show(name)
	switch key {
	case "map", "reduce", "finalize":
		fn, err := r.yamlFunction(name, text, key, v)
		if err != nil {
			return err
		}
		*map[string]*Function{"map": &j.Map, "reduce": &j.Reduce, "finalize": &j.Finalize}[key] = fn
		return nil
	case "namespace", "splitKey":
		if v.Kind != yaml.ScalarNode || v.Tag != "!!str" || v.Value == "" {
			return errorAt(at(file, v), "%s is a string", key)
		}
		if key == "splitKey" {
			j.SplitKey = v.Value
		} else {
			j.setNamespace(v.Value)
		}
		return nil
	case "verbose":
		return nil
	}
	x, err := extJSON(file, v)
	if err != nil {
		return err
	}
	return j.set(key, x, at(file, v), func(i int) Position {
		if v.Kind == yaml.SequenceNode && i < len(v.Content) {
			return at(file, v.Content[i])
		}
		return at(file, v)
	})
}

// set takes a field whose value is BSON, from any form.
func (j *Job) set(key string, x any, p Position, item func(int) Position) error {
	switch key {
	case "scope", "query", "sort":
		d, ok := x.(bson.D)
		if !ok {
			if x == nil {
				return nil
			}
			return errorAt(p, "%s is a document, such as {field: 1}", key)
		}
		*map[string]*bson.D{"scope": &j.Scope, "query": &j.Query, "sort": &j.Sort}[key] = d
	case "limit":
		n, ok := wholeNumber(x)
		if !ok || n < 0 {
			return errorAt(p, "limit is a whole number of documents, 0 for all")
		}
		j.Limit = n
	case "jsMode":
		b, ok := x.(bool)
		if !ok {
			return errorAt(p, "jsMode is true or false")
		}
		j.JSMode = b
	case "out":
		out, err := outOf(x)
		if err != nil {
			return errorAt(p, "%s", err)
		}
		j.Out = out
	case "pipeline":
		stages, ok := x.(bson.A)
		if !ok {
			return errorAt(p, "pipeline is an array of stages")
		}
		j.Pipeline = []bson.D{}
		for i, s := range stages {
			d, ok := s.(bson.D)
			if !ok || len(d) != 1 || !strings.HasPrefix(d[0].Key, "$") {
				return errorAt(item(i), "stage %d is no document with one stage name, such as {$match: …}", i+1)
			}
			j.Pipeline = append(j.Pipeline, d)
		}
	}
	return nil
}

func wholeNumber(x any) (int64, bool) {
	switch n := x.(type) {
	case int32:
		return int64(n), true
	case int64:
		return n, true
	case float64:
		return int64(n), n == float64(int64(n))
	}
	return 0, false
}

// outOf reads the out option.
func outOf(x any) (Out, error) {
	var o Out
	switch v := x.(type) {
	case string:
		if v == "" {
			return o, errors.New("out names no collection")
		}
		return Out{Mode: Replace, Collection: v}, nil
	case bson.D:
		for _, e := range v {
			switch e.Key {
			case "inline":
				if len(v) > 1 {
					return o, errors.New("out inline takes nothing else")
				}
				return o, nil
			case "replace", "merge", "reduce":
				name, ok := e.Value.(string)
				if !ok || name == "" || o.Mode != "" {
					return o, fmt.Errorf("out %s is one collection's name", e.Key)
				}
				o.Mode, o.Collection = e.Key, name
			case "db":
				o.Database, _ = e.Value.(string)
			case "sharded", "nonAtomic":
				b, ok := e.Value.(bool)
				if n, isNumber := wholeNumber(e.Value); isNumber {
					b, ok = n != 0, true
				}
				if !ok {
					return o, fmt.Errorf("out %s is true or false", e.Key)
				}
				*map[string]*bool{"sharded": &o.Sharded, "nonAtomic": &o.NonAtomic}[e.Key] = b
			default:
				return o, fmt.Errorf("out has no option %s: it has inline, replace, merge, reduce, db, sharded, nonAtomic", e.Key)
			}
		}
		if o.Mode == "" {
			return o, errors.New("out says neither inline nor replace, merge or reduce")
		}
		return o, nil
	}
	return o, errors.New("out is a collection's name or a document such as {merge: \"name\"}")
}

// yamlFunction reads a function from a string, {$code: string}, or the name of a .js file.
func (r *reader) yamlFunction(name string, text []byte, role string, v *yaml.Node) (Function, error) {
	file := r.show(name)
	if v.Kind == yaml.MappingNode && len(v.Content) == 2 && v.Content[0].Value == "$code" {
		v = v.Content[1]
	}
	if v.Kind != yaml.ScalarNode || v.Tag != "!!str" {
		return Function{}, errorAt(at(file, v), "%s is a JavaScript function as text, or the name of a .js file", role)
	}
	if plainFile.MatchString(v.Value) {
		return r.functionFile(path.Join(path.Dir(name), v.Value), role)
	}
	fn := Function{Text: v.Value, File: file, Line: v.Line, Column: v.Column}
	switch v.Style {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		lines := strings.Split(string(text), "\n")
		fn.Line++
		for fn.Line <= len(lines) && strings.TrimSpace(lines[fn.Line-1]) == "" {
			fn.Line++ // blank lines in front are part of the text
		}
		if fn.Line <= len(lines) {
			fn.Indent = len(lines[fn.Line-1]) - len(strings.TrimLeft(lines[fn.Line-1], " "))
		}
		fn.Line -= len(v.Value) - len(strings.TrimLeft(v.Value, "\n"))
		fn.Column = fn.Indent + 1
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		fn.Column++
	}
	return functionFrom(fn, role)
}

func (r *reader) pipelineFile(j *Job, name string) error {
	text, err := r.read(name)
	if err != nil {
		return err
	}
	root, err := r.parseYAML(name, text)
	if err != nil {
		return err
	}
	return r.setYAML(j, name, text, "pipeline", root)
}

// extJSON turns a tree into BSON: it is written as JSON, fields in order, and read as Extended JSON.
func extJSON(file string, n *yaml.Node) (any, error) {
	var b strings.Builder
	b.WriteString(`{"v":`)
	if err := appendJSON(&b, file, n, 0); err != nil {
		return nil, err
	}
	b.WriteString("}")
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(b.String()), false, &d); err != nil || len(d) != 1 {
		return nil, errorAt(at(file, n), "not Extended JSON: %v", err)
	}
	return d[0].Value, nil
}

const maxDepth = 100

func appendJSON(b *strings.Builder, file string, n *yaml.Node, depth int) error {
	n, err := resolved(file, n)
	if err != nil {
		return err
	}
	if depth > maxDepth || b.Len() > maxFile {
		return errorAt(at(file, n), "nested deeper, or larger, than any server takes")
	}
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteString("{")
		var keys []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || slices.Contains(keys, k.Value) {
				return errorAt(at(file, k), "a field name is a string, once in a document")
			}
			keys = append(keys, k.Value)
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(quoted(k.Value) + ":")
			if err := appendJSON(b, file, n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		b.WriteString("}")
	case yaml.SequenceNode:
		b.WriteString("[")
		for i, c := range n.Content {
			if i > 0 {
				b.WriteString(",")
			}
			if err := appendJSON(b, file, c, depth+1); err != nil {
				return err
			}
		}
		b.WriteString("]")
	default:
		return appendScalar(b, file, n)
	}
	return nil
}

func quoted(s string) string {
	q, _ := json.Marshal(s) // a string always marshals
	return string(q)
}

func appendScalar(b *strings.Builder, file string, n *yaml.Node) error {
	switch n.Tag {
	case "!!null":
		b.WriteString("null")
	case "!!bool":
		var v bool
		if err := n.Decode(&v); err != nil {
			return errorAt(at(file, n), "%v", err)
		}
		b.WriteString(strconv.FormatBool(v))
	case "!!int":
		var v int64
		if err := n.Decode(&v); err != nil {
			return tooLong(file, n)
		}
		b.WriteString(strconv.FormatInt(v, 10))
	case "!!float":
		var v float64
		if !strings.ContainsAny(n.Value, ".eEnN") {
			return tooLong(file, n)
		}
		if err := n.Decode(&v); err != nil {
			return errorAt(at(file, n), "%v", err)
		}
		text := strconv.FormatFloat(v, 'G', -1, 64)
		switch text {
		case "+Inf":
			text = "Infinity"
		case "-Inf":
			text = "-Infinity"
		}
		b.WriteString(`{"$numberDouble":"` + text + `"}`)
	case "!!timestamp":
		var v primitive.DateTime
		t, err := parseTime(n.Value)
		if err != nil {
			return errorAt(at(file, n), "%v", err)
		}
		v = primitive.NewDateTimeFromTime(t)
		fmt.Fprintf(b, `{"$date":{"$numberLong":"%d"}}`, int64(v))
	case "!!str":
		b.WriteString(quoted(n.Value))
	default:
		return errorAt(at(file, n), "%s is nothing that BSON has: use Extended JSON, such as {$date: …}", n.Tag)
	}
	return nil
}

// tooLong refuses a whole number that would lose digits.
func tooLong(file string, n *yaml.Node) error {
	return errorAt(at(file, n), "%s does not fit into 64 bits: write {$numberDecimal: %q}", n.Value, n.Value)
}
