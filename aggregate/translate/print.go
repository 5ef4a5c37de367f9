package translate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"go/format"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// dialect is how a language writes documents.
type dialect struct {
	doc, arr [2]string // opening and closing
	key      func(string) string
	end      string // after a field's value
	scalar   func(any) string
	trailing bool // a comma after the last line
}

// lineWidth is where lines are broken, if they can be.
const lineWidth = 100

func (d dialect) write(b *strings.Builder, v any, indent, taken int) {
	one := d.line(v)
	if indent+taken+len(one) <= lineWidth {
		b.WriteString(one)
		return
	}
	pad := strings.Repeat(" ", indent+2)
	list := func(open, end string, n int, item func(i int)) {
		b.WriteString(strings.TrimRight(open, " ") + "\n")
		for i := range n {
			b.WriteString(pad)
			item(i)
			if i < n-1 || d.trailing {
				b.WriteString(",")
			}
			b.WriteString("\n")
		}
		b.WriteString(strings.Repeat(" ", indent) + strings.TrimLeft(end, " "))
	}
	switch v := v.(type) {
	case bson.D:
		list(d.doc[0], d.doc[1], len(v), func(i int) {
			k := d.key(v[i].Key)
			b.WriteString(k)
			d.write(b, v[i].Value, indent+2, len(k)+1)
			b.WriteString(d.end)
		})
	case bson.A:
		list(d.arr[0], d.arr[1], len(v), func(i int) { d.write(b, v[i], indent+2, 1) })
	default:
		b.WriteString(one)
	}
}

func (d dialect) line(v any) string {
	switch v := v.(type) {
	case bson.D:
		if len(v) == 0 {
			return strings.TrimSpace(d.doc[0]) + strings.TrimSpace(d.doc[1])
		}
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = d.key(e.Key) + d.line(e.Value) + d.end
		}
		return d.doc[0] + strings.Join(parts, ", ") + d.doc[1]
	case bson.A:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = d.line(e)
		}
		return d.arr[0] + strings.Join(parts, ", ") + d.arr[1]
	}
	return d.scalar(v)
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

var mongosh = dialect{
	doc: [2]string{"{ ", " }"}, arr: [2]string{"[", "]"},
	key: func(k string) string {
		if identifier.MatchString(k) {
			return k + ": "
		}
		return quote(k) + ": "
	},
	scalar: shellScalar,
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

func shellScalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case int64:
		return fmt.Sprintf("NumberLong(%q)", strconv.FormatInt(v, 10))
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case math.IsInf(v, 1):
			return "Infinity"
		case math.IsInf(v, -1):
			return "-Infinity"
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case primitive.DateTime:
		return fmt.Sprintf("ISODate(%q)", v.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	case primitive.ObjectID:
		return fmt.Sprintf("ObjectId(%q)", v.Hex())
	case primitive.Decimal128:
		return fmt.Sprintf("NumberDecimal(%q)", v.String())
	case primitive.Regex:
		return "/" + strings.ReplaceAll(v.Pattern, "/", `\/`) + "/" + v.Options
	case primitive.Binary:
		return fmt.Sprintf("BinData(%d, %q)", v.Subtype, base64.StdEncoding.EncodeToString(v.Data))
	case primitive.Timestamp:
		return fmt.Sprintf("Timestamp(%d, %d)", v.T, v.I)
	case primitive.MinKey:
		return "MinKey()"
	case primitive.MaxKey:
		return "MaxKey()"
	case primitive.JavaScript:
		return quote(string(v))
	}
	return fmt.Sprint(v)
}

// MongoDBShell is the pipeline as text for mongosh; coll is what it runs on, such as "orders".
func (r *Result) MongoDBShell(coll string) string {
	var b strings.Builder
	on := "db." + coll
	if !identifier.MatchString(coll) {
		on = "db.getCollection(" + quote(coll) + ")"
	}
	r.head(&b, "//")
	b.WriteString(on + ".aggregate([\n")
	stages := r.all()
	for i, s := range stages {
		s.comments(&b, "  //")
		b.WriteString("  ")
		mongosh.write(&b, s.Stage, 2, 2)
		if i < len(stages)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("], { allowDiskUse: true });\n")
	return b.String()
}

func (r *Result) all() []Stage {
	if r.Out == nil {
		return r.Stages
	}
	return append(append([]Stage{}, r.Stages...), *r.Out)
}

// head says what the reader has to know before running it.
func (r *Result) head(b *strings.Builder, comment string) {
	fmt.Fprintf(b, "%s Needs MongoDB %s or later.\n", comment, r.MinVersion)
	for _, c := range r.Caveats {
		wrapped(b, comment, c.String())
	}
}

// wrapped writes a comment in lines of a readable length.
func wrapped(b *strings.Builder, comment, text string) {
	line := comment
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > lineWidth && line != comment {
			b.WriteString(line + "\n")
			line = comment + "  "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// comments names the places that the stage comes from.
func (s Stage) comments(b *strings.Builder, comment string) {
	seen := map[string]bool{}
	for _, l := range s.Lines {
		text := l.String()
		if !seen[text] {
			fmt.Fprintf(b, "%s %s\n", comment, text)
		}
		seen[text] = true
	}
}

func (l Line) String() string {
	s := l.Function
	if l.File != "" || l.Line > 0 {
		s += ", " + l.Position.String()
	}
	if l.Text != "" {
		s += ": " + oneLine(l.Text)
	}
	return s
}

var extJSON = dialect{
	doc: [2]string{"{ ", " }"}, arr: [2]string{"[", "]"},
	key:    func(k string) string { return quote(k) + ": " },
	scalar: jsonScalar,
}

func jsonScalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case bool, int32:
		return fmt.Sprint(v)
	case int64:
		return fmt.Sprintf(`{ "$numberLong": "%d" }`, v)
	}
	d, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, false, false)
	if err != nil {
		return "null"
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(d), `{"v":`), "}")
}

// JSON is the pipeline as an array in Extended JSON, as pipeline.json of a job's folder takes it.
func (r *Result) JSON() string {
	var b strings.Builder
	b.WriteString("[\n")
	stages := r.all()
	for i, s := range stages {
		b.WriteString("  ")
		extJSON.write(&b, s.Stage, 2, 2)
		if i < len(stages)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("]\n")
	return b.String()
}

var golang = dialect{
	doc: [2]string{"bson.D{", "}"}, arr: [2]string{"bson.A{", "}"},
	key: func(k string) string { return "{Key: " + strconv.Quote(k) + ", Value: " }, end: "}",
	scalar: goScalar, trailing: true,
}

func goScalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int32:
		return fmt.Sprintf("int32(%d)", v)
	case int64:
		return fmt.Sprintf("int64(%d)", v)
	case float64:
		switch {
		case math.IsNaN(v):
			return "math.NaN()"
		case math.IsInf(v, 0):
			if v > 0 {
				return "math.Inf(1)"
			}
			return "math.Inf(-1)"
		}
		return "float64(" + strconv.FormatFloat(v, 'g', -1, 64) + ")"
	case primitive.DateTime:
		return fmt.Sprintf("primitive.DateTime(%d) /* %s */", int64(v), v.Time().UTC().Format(time.RFC3339))
	case primitive.Decimal128:
		h, l := v.GetBytes()
		return fmt.Sprintf("primitive.NewDecimal128(%d, %d)", h, l)
	}
	return fmt.Sprintf("%#v", v)
}

// Go is a Go file with the pipeline for the driver go.mongodb.org/mongo-driver v1.
func (r *Result) Go() (string, error) {
	var body strings.Builder
	for _, s := range r.all() {
		s.comments(&body, "\t//")
		body.WriteString("\t")
		golang.write(&body, s.Stage, 2, 2)
		body.WriteString(",\n")
	}
	var b strings.Builder
	b.WriteString("package pipeline\n\nimport (\n")
	if strings.Contains(body.String(), "math.") {
		b.WriteString("\t\"math\"\n\n")
	}
	b.WriteString("\t\"go.mongodb.org/mongo-driver/bson\"\n")
	if strings.Contains(body.String(), "primitive.") {
		b.WriteString("\t\"go.mongodb.org/mongo-driver/bson/primitive\"\n")
	}
	b.WriteString(")\n\n")
	b.WriteString("// Pipeline gives documents {_id, value}.\n//\n")
	r.head(&b, "//")
	b.WriteString("var Pipeline = []bson.D{\n" + body.String() + "}\n")
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		return "", fmt.Errorf("translate: writing Go: %w", err)
	}
	return string(text), nil
}
