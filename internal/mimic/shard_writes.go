package mimic

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// noShardKey is the code of a write that a router can't send to a shard.
const noShardKey = 61

// statements are the documents of an insert or the updates of an update, from wherever they are in the message.
func statements(c mongofake.Command, name string) (list []bson.Raw) {
	if seq, ok := c.Sequences[name]; ok {
		return seq
	}
	docs, _ := c.Body.Lookup(name).ArrayOK()
	values, _ := docs.Values() //nolint:errcheck // none, then
	for _, v := range values {
		if d, ok := v.DocumentOK(); ok {
			list = append(list, d)
		}
	}
	return list
}

// shardWrite answers an insert or update of a sharded collection of which a router refuses a part; nil: it refuses none.
func (s *Server) shardWrite(ctx context.Context, c mongofake.Command) (bson.D, error) {
	name, refusal := "documents", s.refuseInsert
	if c.Name == "update" {
		name, refusal = "updates", s.refuseUpdate
	}
	coll, err := s.sharded(ctx, namespace(c))
	if err != nil || coll == nil {
		return nil, err
	}
	ordered := true
	if v, ok := c.Body.Lookup("ordered").BooleanOK(); ok {
		ordered = v
	}
	var sent bson.A
	var at []int32 // in the command, of those that are sent
	refused := bson.A{}
	for i, d := range statements(c, name) {
		code, text := refusal(coll.Key, d)
		if code == 0 {
			sent, at = append(sent, d), append(at, int32(i))
			continue
		}
		refused = append(refused, bson.D{{Key: "index", Value: int32(i)}, {Key: "code", Value: code}, {Key: "errmsg", Value: text}})
		if ordered {
			break
		}
	}
	if len(refused) == 0 {
		return nil, nil
	}
	reply := bson.D{{Key: "n", Value: int32(0)}, {Key: "ok", Value: 1.0}}
	if len(sent) > 0 {
		db, collection := splitNS(coll.NS)
		raw, err := s.inside.Database(db).RunCommand(ctx, bson.D{{Key: c.Name, Value: collection}, {Key: name, Value: sent}, {Key: "ordered", Value: ordered}}).Raw()
		if raw == nil { // with write errors there is a reply too
			return nil, err
		}
		reply = nil
		if err := bson.Unmarshal(raw, &reply); err != nil {
			return nil, err
		}
	}
	for _, list := range []string{"writeErrors", "upserted"} {
		about, _ := value(reply, list).(bson.A)
		for _, e := range about {
			d, _ := e.(bson.D)
			replace(d, "index", at[number(value(d, "index"))])
		}
	}
	failed, _ := value(reply, "writeErrors").(bson.A)
	if !ordered || len(failed) == 0 {
		failed = append(failed, refused...)
	}
	return append(without(reply, "writeErrors", "ok"), bson.E{Key: "writeErrors", Value: failed}, bson.E{Key: "ok", Value: 1.0}), nil
}

// keyIn says whether a document has all fields of a shard key, and whether one is in an array.
func keyIn(key bson.D, doc bson.Raw) (has, array bool) {
	has = true
	for _, e := range key {
		d, found := doc, false
		path := strings.Split(e.Key, ".")
		for i, field := range path {
			v := d.Lookup(field)
			array = array || v.Type == bson.TypeArray
			found = i == len(path)-1 && v.Type != 0 && v.Type != bson.TypeUndefined
			d, _ = v.DocumentOK()
		}
		has = has && found
	}
	return has && !array, array
}

func (s *Server) refuseInsert(key bson.D, doc bson.Raw) (int32, string) {
	has, array := keyIn(key, doc)
	switch {
	case has:
		return 0, ""
	case !s.atLeast(4, 4):
		return noShardKey, fmt.Sprintf("document %s does not contain shard key for pattern %s", shellText(doc), patternText(key))
	case array:
		return noShardKey, "Shard key cannot contain array values or array descendants."
	}
	return 0, ""
}

// refuseUpdate wants an update to name a shard: an upsert by the whole key, one of a single document by the key or _id. 7.0 finds it by itself.
func (s *Server) refuseUpdate(key bson.D, update bson.Raw) (int32, string) {
	query, _ := update.Lookup("q").DocumentOK()
	change, isDoc := update.Lookup("u").DocumentOK()
	upsert, _ := update.Lookup("upsert").BooleanOK()
	multi, _ := update.Lookup("multi").BooleanOK()
	first, _ := change.IndexErr(0) //nolint:errcheck // an empty replacement
	replaces := isDoc && (len(first) == 0 || !strings.HasPrefix(first.Key(), "$"))
	var found bool
	if replaces {
		var array bool
		found, array = keyIn(key, change)
		found = found || s.atLeast(4, 4) && !array
	} else {
		found, _ = keyIn(key, equalities(query))
	}
	byID, _ := keyIn(bson.D{{Key: "_id"}}, equalities(query))
	request := fmt.Sprintf(" Update request: %s, shard key pattern: %s", shellText(update), patternText(key))
	switch {
	case found || s.atLeast(7, 0):
	case upsert && !s.atLeast(4, 2):
		return noShardKey, "An upsert on a sharded collection must contain the shard key and have the simple collation." + request
	case upsert:
		return noShardKey, "Sharded upserts must contain the shard key and have the simple collation." + request
	case multi || byID:
	case !s.atLeast(4, 2):
		return noShardKey, "A single update on a sharded collection must contain an exact match on _id (and have the collection default collation) or contain the " +
			"shard key (and have the simple collation)." + request
	default:
		return 72, fmt.Sprintf("A {multi:false} update on a sharded collection must either contain an exact match on _id (and have the collection default collation) "+
			"or must target a single shard (and have the simple collation), but this update targeted %d shards.%s", len(shardNames), request)
	}
	return 0, ""
}

// equalities are the fields that a query wants to be equal to a value.
func equalities(query bson.Raw) bson.Raw {
	found := bson.D{}
	elements, _ := query.Elements() //nolint:errcheck // none, then
	for _, e := range elements {
		v := e.Value()
		if d, ok := v.DocumentOK(); ok {
			if first, err := d.IndexErr(0); err == nil && strings.HasPrefix(first.Key(), "$") {
				if first.Key() != "$eq" {
					continue
				}
				v = first.Value()
			}
		}
		var at any = v
		path := strings.Split(e.Key(), ".")
		for i := len(path) - 1; i > 0; i-- {
			at = bson.D{{Key: path[i], Value: at}}
		}
		found = append(found, bson.E{Key: path[0], Value: at})
	}
	raw, err := bson.Marshal(found)
	if err != nil {
		return nil
	}
	return raw
}

func patternText(key bson.D) string {
	raw, err := bson.Marshal(key)
	if err != nil {
		return ""
	}
	return shellText(raw)
}

// shellText is a document as servers write it in their errors.
func shellText(doc bson.Raw) string {
	elements, err := doc.Elements()
	if err != nil || len(elements) == 0 {
		return "{}"
	}
	parts := make([]string, len(elements))
	for i, e := range elements {
		parts[i] = e.Key() + ": " + shellValue(e.Value())
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func shellValue(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return shellText(v.Document())
	case bson.TypeDouble:
		text := fmt.Sprint(v.Double())
		if !strings.ContainsAny(text, ".eIN") {
			text += ".0"
		}
		return text
	case bson.TypeInt32, bson.TypeInt64:
		return fmt.Sprint(v.AsInt64())
	case bson.TypeString:
		return fmt.Sprintf("%q", v.StringValue())
	case bson.TypeObjectID:
		return "ObjectId('" + v.ObjectID().Hex() + "')"
	case bson.TypeDateTime:
		return fmt.Sprintf("new Date(%d)", v.DateTime())
	case bson.TypeArray:
		values, err := v.Array().Values()
		if err != nil || len(values) == 0 {
			return "[]"
		}
		parts := make([]string, len(values))
		for i, x := range values {
			parts[i] = shellValue(x)
		}
		return "[ " + strings.Join(parts, ", ") + " ]"
	}
	return v.String()
}
