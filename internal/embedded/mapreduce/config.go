package mapreduce

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// source is a function as the command gives it.
type source struct {
	text  string
	scope bsonx.Doc // of code with scope, else nil
}

// config is a parsed command.
type config struct {
	ns       store.NS
	mapper   source
	reducer  source
	finalize *source
	filter   *query.Filter
	sort     *query.SortSpec
	limit    int64
	scope    bsonx.Doc
	scripts  expr.Scripts // the $functions of the query
	jsMode   bool
	verbose  bool
	out      output
}

// parse reads the command document. Codes are those of a 4.0 server.
func parse(dbName string, cmd bsonx.Doc) (*config, error) {
	it := cmd.Iter()
	if !it.Next() || it.Value().Type != bsonx.TypeString || it.Value().Str() == "" {
		return nil, mongoerr.New(mongoerr.InvalidNamespace, "mapReduce needs the name of a collection")
	}
	if !cmd.Get("outType").IsMissing() {
		return nil, mongoerr.New(13602, "outType is no longer a valid option")
	}
	c := &config{ns: store.NS{DB: dbName, Coll: it.Value().Str()}}
	c.jsMode = cmd.Get("jsMode").Truthy()
	c.verbose = cmd.Get("verbose").Truthy()
	var err error
	if c.out, err = parseOutput(dbName, cmd.Get("out")); err != nil {
		return nil, err
	}
	if v := cmd.Get("scope"); v.Type == bsonx.TypeEmbeddedDocument {
		c.scope = v.Doc()
	}
	if c.mapper, err = parseFunction("map", cmd.Get("map")); err != nil {
		return nil, err
	}
	if c.reducer, err = parseFunction("reduce", cmd.Get("reduce")); err != nil {
		return nil, err
	}
	if v := cmd.Get("finalize"); v.Truthy() {
		f, err := parseFunction("finalize", v)
		if err != nil {
			return nil, err
		}
		c.finalize = &f
	}
	return c, c.parseRead(cmd)
}

// parseRead reads what says which documents come, and in which order.
func (c *config) parseRead(cmd bsonx.Doc) (err error) {
	switch v := cmd.Get("query"); {
	case v.Type == bsonx.TypeEmbeddedDocument:
		if c.filter, err = query.ParseFilter(v.Doc(), (&expr.Scope{}).WithScripts(&c.scripts)); err != nil {
			return badQuery(err)
		}
	case v.Truthy():
		return mongoerr.New(13608, "query has to be blank or an Object")
	}
	switch v := cmd.Get("sort"); {
	case v.Type == bsonx.TypeEmbeddedDocument:
		if v.Doc().Len() > 0 {
			if c.sort, err = query.ParseSort(v.Doc()); err != nil {
				return badQuery(err)
			}
		}
	case v.Truthy():
		return mongoerr.New(13609, "sort has to be blank or an Object")
	}
	if v := cmd.Get("limit"); v.IsNumber() {
		if c.limit, _ = v.TruncInt64(); c.limit < 0 {
			c.limit = 1 // a 4.0 server stops after the first document then
		}
	}
	if v := cmd.Get("collation"); v.Type == bsonx.TypeEmbeddedDocument && v.Doc().Len() > 0 {
		if l := v.Doc().Get("locale"); l.Type != bsonx.TypeString || l.Str() != "simple" {
			return mongoerr.New(mongoerr.InvalidOptions, "mapReduce: only the simple collation is supported")
		}
	} else if !v.IsMissing() && v.Type != bsonx.TypeEmbeddedDocument {
		return mongoerr.New(40082, "mapReduce 'collation' parameter must be of type Object but found type: %s", bsonx.TypeName(v.Type))
	}
	return nil
}

// badQuery is mapReduce's answer to a filter or sort that can't be read. What this engine does not have keeps its code.
func badQuery(err error) error {
	if mongoerr.CodeOf(err) == mongoerr.CommandNotSupported {
		return err
	}
	return mongoerr.New(codeBadQuery, "Can't canonicalize query: %v", err)
}

const codeBadQuery = 17238

func parseFunction(name string, v bsonx.Value) (source, error) {
	switch v.Type {
	case bsonx.TypeString, bsonx.TypeJavaScript:
		return source{text: v.Str()}, nil
	case bsonx.TypeCodeWithScope:
		text, scope := v.CodeWithScope()
		return source{text: text, scope: scope}, nil
	}
	return source{}, mongoerr.New(10062, "%s has to be a function, not %s", name, bsonx.TypeName(v.Type))
}
