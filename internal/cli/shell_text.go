package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// shellCommand is a command as text for mongosh.
func shellCommand(db string, body any) string {
	return fmt.Sprintf("db.getSiblingDB(%s).runCommand(%s)", shellString(db), shellText(body))
}

var shellName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func shellString(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

func shellDocument(d bson.D) string {
	parts := make([]string, len(d))
	for i, e := range d {
		name := e.Key
		if !shellName.MatchString(name) {
			name = shellString(name)
		}
		parts[i] = name + ": " + shellText(e.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// shellText is a value as mongosh reads it, on one line.
func shellText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bson.D:
		return shellDocument(v)
	case bson.Raw:
		var d bson.D
		if err := bson.Unmarshal(v, &d); err != nil {
			return "{}"
		}
		return shellDocument(d)
	case bson.RawValue:
		var x any
		if err := v.Unmarshal(&x); err != nil {
			return "null"
		}
		return shellText(x)
	case string:
		return shellString(v)
	case int64:
		return fmt.Sprintf("NumberLong(%q)", strconv.FormatInt(v, 10))
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case math.IsInf(v, 0):
			return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "Inf", "Infinity", 1)
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
	case primitive.Undefined:
		return "undefined"
	case primitive.Symbol:
		return shellString(string(v))
	case primitive.DBPointer:
		return fmt.Sprintf("DBPointer(%s, ObjectId(%q))", shellString(v.DB), v.Pointer.Hex())
	case primitive.CodeWithScope:
		return fmt.Sprintf("Code(%s, %s)", shellString(string(v.Code)), shellText(v.Scope))
	case primitive.JavaScript:
		return "Code(" + shellString(string(v)) + ")"
	}
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.Type().Elem().Kind() != reflect.Uint8 {
		parts := make([]string, list.Len())
		for i := range parts {
			parts[i] = shellText(list.Index(i).Interface())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}
