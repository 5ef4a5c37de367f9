package mongoerr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFrom(t *testing.T) {
	dup := New(DuplicateKey, "E11000 duplicate key: %d", 5)
	for _, c := range []struct {
		err  error
		code Code
		msg  string
	}{
		{dup, DuplicateKey, "E11000 duplicate key: 5"},
		{fmt.Errorf("insert: %w", dup), DuplicateKey, "E11000 duplicate key: 5"},
		{io.ErrUnexpectedEOF, InternalError, "unexpected EOF"},
		{fmt.Errorf("scan: %w", context.DeadlineExceeded), MaxTimeMSExpired, "operation exceeded time limit"},
		{fmt.Errorf("scan: %w", context.Canceled), Interrupted, "operation was interrupted"},
		{Wrap(FailedToParse, io.EOF, "query %q", "x"), FailedToParse, `query "x": EOF`},
	} {
		e := From(c.err)
		if e.Code != c.code || e.Msg != c.msg || CodeOf(c.err) != c.code {
			t.Errorf("%v: %v %q, want %v %q", c.err, e.Code, e.Msg, c.code, c.msg)
		}
	}
	if CodeOf(nil) != 0 || Wrap(BadValue, nil, "x") != nil {
		t.Error("nil is an error")
	}
	if !errors.Is(Wrap(FailedToParse, io.EOF, "x"), io.EOF) {
		t.Error("the cause is lost")
	}
	if got := Code(16020).Name(); got != "Location16020" {
		t.Error(got)
	}
}

// Every code that recorded replies of a 4.0 server name has that name here.
func TestNamesOfAServer(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[string]bool{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(b, &tree); err != nil {
			t.Fatal(err)
		}
		walk(tree, func(code, name string) {
			seen[code] = true
			var n int32
			if _, err := fmt.Sscan(code, &n); err != nil {
				t.Fatal(err)
			}
			if got := Code(n).Name(); got != name {
				t.Errorf("code %s is %q, a server says %q", code, got, name)
			}
		})
	}
	if len(seen) < 10 {
		t.Errorf("only %d codes seen", len(seen))
	}
}

// walk finds the documents with a code and a codeName.
func walk(v any, found func(code, name string)) {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["codeName"].(string); ok {
			if code, ok := v["code"].(map[string]any); ok {
				found(fmt.Sprint(code["$numberInt"]), name)
			}
		}
		for _, e := range v {
			walk(e, found)
		}
	case []any:
		for _, e := range v {
			walk(e, found)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	byName := map[string]Code{}
	for code, name := range names {
		if other, ok := byName[name]; ok {
			t.Errorf("%d and %d are both %q", code, other, name)
		}
		byName[name] = code
		if strings.ContainsAny(name, " _") {
			t.Errorf("%d: %q", code, name)
		}
	}
}
