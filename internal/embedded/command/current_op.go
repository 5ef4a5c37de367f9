package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
)

// Values longer than this many bytes are left out of a command that currentOp shows.
const shownValue = 1024

// currentOp lists the commands that run now; fields that are no options of its own filter the list.
func currentOp(_ context.Context, c *call) error {
	match, err := c.opFilter()
	if err != nil {
		return err
	}
	own, err := c.flag("$ownOps", false)
	if err != nil {
		return err
	}
	n := 0
	at := c.startArray("inprog")
	for _, d := range c.s.ops.documents(own, c.sess) {
		ok, err := match.Match(d)
		if err != nil {
			return err
		}
		if ok {
			c.elem(n, bsonx.DocValue(d))
			n++
		}
	}
	c.end(at)
	return nil
}

// opFilter is made of the command's fields other than its options and the generic ones.
func (c *call) opFilter() (*query.Filter, error) {
	d := build(func(w *builder) {
		it := c.body.Iter()
		it.Next()
		for it.Next() {
			name := it.Name()
			known, err := c.genericField(name, it.Value())
			if !known && err == nil && !bytes.HasPrefix(name, []byte("$")) {
				w.value(string(name), it.Value())
			}
		}
	})
	return query.ParseFilter(d, &expr.Scope{})
}

// count is the number of running commands.
func (o *ops) count() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int64(len(o.running))
}

// documents describes the running commands, oldest first; own: those of one connection alone.
func (o *ops) documents(own bool, sess *Session) []bsonx.Doc {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	list := slices.SortedFunc(maps.Values(o.running), func(a, b *op) int { return cmp.Compare(a.id, b.id) })
	var docs []bsonx.Doc
	for _, p := range list {
		if !own || p.call.sess == sess {
			docs = append(docs, build(func(w *builder) { p.describe(w, now) }))
		}
	}
	return docs
}

// describe runs under the registry's lock.
func (p *op) describe(w *builder, now time.Time) {
	c := p.call
	w.str("type", "op")
	w.str("host", hostname())
	w.str("desc", fmt.Sprintf("conn%d", c.sess.id))
	w.int32("connectionId", int32(c.sess.id))
	w.str("client", c.sess.remote)
	if app := c.sess.appName.Load(); app != nil {
		w.str("appName", *app)
	}
	if driver := c.sess.driver.Load(); driver != nil {
		w.str("driver", *driver)
	}
	w.bool("active", true)
	w.str("currentOpTime", now.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	w.int32("opid", p.id)
	w.int64("secs_running", int64(now.Sub(p.started).Seconds()))
	w.int64("microsecs_running", now.Sub(p.started).Microseconds())
	w.str("op", p.kindName())
	w.str("ns", p.ns)
	w.doc("command", c.shown())
	if !c.g.comment.IsMissing() {
		w.value("comment", c.g.comment)
	}
	p.describeProgress(w)
	if p.killed {
		w.bool("killPending", true)
	}
}

func (p *op) kindName() string {
	if p.call.cmd.kind == opDelete {
		return "remove"
	}
	return opLines[p.call.cmd.kind]
}

func (p *op) describeProgress(w *builder) {
	if p.phase == "" {
		return
	}
	msg := fmt.Sprintf("%s: %d", p.phase, p.done)
	if p.total > 0 {
		msg = fmt.Sprintf("%s: %d/%d %d%%", p.phase, p.done, p.total, p.done*100/p.total)
	}
	w.str("msg", msg)
	at := w.startDoc("progress")
	w.int64("done", p.done)
	w.int64("total", p.total)
	w.end(at)
}

// trimmed copies a command without its long values, such as the documents of an insert.
func trimmed(d bsonx.Doc) bsonx.Doc {
	return build(func(w *builder) {
		for it := d.Iter(); it.Next(); {
			v := it.Value()
			if len(v.Data) > shownValue {
				v = bsonx.String(fmt.Sprintf("%s of %d bytes", bsonx.TypeName(v.Type), len(v.Data)))
			}
			w.value(string(it.Name()), v)
		}
	})
}
