package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

var screenshots = flag.String("screenshots", "", "with -run Screenshots: write screenshots of the test pages into this directory")

// browserTimeout is how long a browser may take for one page on a busy machine. It is no measurement.
const browserTimeout = 2 * time.Minute

// browserNames are what the browser is called on the systems that have it.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// browser finds a browser, or skips the test and says what to install.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no browser: install chromium (Debian package chromium) to have the page opened and its figures read back")
	return ""
}

// run starts the browser without a window, with a profile of its own, and returns what it prints.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	path := browser(t)
	profile, err := os.MkdirTemp("", "page-test-*")
	if err != nil {
		t.Fatal(err)
	}
	// A browser's last process may still write when the first has ended: what is left then is the system's to remove.
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	ctx, cancel := context.WithTimeout(t.Context(), browserTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--user-data-dir=" + profile,
	}, args...)...)
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%s: %v\n%s", path, err, errs.String())
	}
	return out.Bytes()
}

// site serves a page, and a frame around it of a given width that measures it. It remembers what else was asked for.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func serve(t *testing.T, page []byte) *site {
	t.Helper()
	s := &site{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	mux.HandleFunc("GET /frame", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		q := r.URL.Query()
		script := ""
		if q.Has("measure") {
			script = "<pre id=out></pre><script>" + probe + "</script>"
		}
		fmt.Fprintf(w, `<!doctype html><meta charset=utf-8><link rel=icon href="data:,"><body style="margin:0"><iframe id=page src=/page style="color-scheme:%s;border:0;display:block;width:%spx;height:%spx"></iframe>%s`,
			html.EscapeString(q.Get("scheme")), html.EscapeString(q.Get("width")), html.EscapeString(q.Get("height")), script)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.URL.String())
		http.NotFound(w, r)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// probe runs in the frame's page, whose origin is the same: the page under test stays as it is, its policy too.
const probe = `
const frame = document.getElementById('page');
function rgb(s) { const m = s.match(/[\d.]+/g).map(Number); return {r: m[0], g: m[1], b: m[2], a: m.length > 3 ? m[3] : 1}; }
function lum(c) { const f = x => { x /= 255; return x <= 0.03928 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4); }; return 0.2126*f(c.r) + 0.7152*f(c.g) + 0.0722*f(c.b); }
function contrast(a, b) { const x = lum(a), y = lum(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); }
function backdrop(win, el) {
  for (let e = el; e; e = e.parentElement) {
    // A text in a figure stands on the shape before it, when there is one in its group.
    if (e.tagName === 'text' && e.previousElementSibling && e.previousElementSibling.tagName === 'rect') return rgb(win.getComputedStyle(e.previousElementSibling).fill);
    const c = rgb(win.getComputedStyle(e).backgroundColor);
    if (c.a > 0) return c;
  }
  return {r: 255, g: 255, b: 255, a: 1};
}
frame.addEventListener('load', () => {
  const win = frame.contentWindow, doc = frame.contentDocument, root = doc.scrollingElement;
  const out = {width: root.clientWidth, scrollWidth: root.scrollWidth, height: root.scrollHeight, requests: win.performance.getEntriesByType('resource').map(e => e.name),
    dark: win.matchMedia('(prefers-color-scheme: dark)').matches, small: [], faint: [], outside: [], bars: [], tables: [], text: doc.body.innerText, title: doc.title,
    scripts: doc.querySelectorAll('script').length, images: [...doc.querySelectorAll('svg[role=img]')].map(e => e.getAttribute('aria-label') || ''), links: [...doc.querySelectorAll('nav a')].map(a => !!doc.querySelector(a.getAttribute('href'))),
    ids: [...doc.querySelectorAll('[id]')].map(e => e.id), overlap: [], scrolls: [...doc.querySelectorAll('.scroll')].map(e => e.scrollWidth - e.clientWidth), pre: (doc.querySelector('pre') || {}).textContent || '', background: win.getComputedStyle(doc.body).backgroundColor, texts: 0};
  const walker = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const el = walker.currentNode.parentElement, words = walker.currentNode.textContent.trim();
    if (!words || el.tagName === 'title' || el.tagName === 'STYLE' || !el.getClientRects().length) continue;
    out.texts++;
    const style = win.getComputedStyle(el), svg = el.ownerSVGElement;
    let size = parseFloat(style.fontSize);
    if (svg) { const m = el.getScreenCTM(); size *= Math.min(Math.abs(m.a), Math.abs(m.d)); }
    if (size < 11) out.small.push(words + ' (' + size + 'px)');
    const c = contrast(rgb(svg ? style.fill : style.color), backdrop(win, el));
    const large = size >= 24 || size >= 18.66 && parseInt(style.fontWeight) >= 700;
    if (c < (large ? 3 : 4.5)) out.faint.push(words + ' (' + c.toFixed(2) + ')');
    const range = doc.createRange(); range.selectNodeContents(walker.currentNode);
    for (const r of range.getClientRects()) if ((r.left < -0.5 || r.right > root.clientWidth + 0.5) && !el.closest('.scroll')) { out.outside.push(words); break; }
  }
  for (const list of doc.querySelectorAll('svg')) {
    const texts = [...list.querySelectorAll(':scope > text, :scope > g > text')].map(t => ({t: t.textContent, r: t.getBoundingClientRect()}));
    for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) { const a = texts[i].r, b = texts[j].r;
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) out.overlap.push(texts[i].t + ' / ' + texts[j].t); }
  }
  for (const section of ['time', 'speedup']) for (const li of doc.querySelectorAll('#' + section + ' .bars > li[data-id]')) {
    const bar = li.querySelector('.bar'), plot = li.querySelector('.plot'), strong = li.querySelector('.value strong'), line = li.querySelector('.interval line');
    out.bars.push({section, id: li.dataset.id, value: Number(li.dataset.value), shown: strong ? strong.textContent : '', missing: (li.querySelector('.missing') || {}).textContent || '',
      share: bar ? bar.getBoundingClientRect().width / plot.getBoundingClientRect().width : 0, dots: li.querySelectorAll('circle').length,
      low: line ? (line.getBoundingClientRect().left - plot.getBoundingClientRect().left) / plot.getBoundingClientRect().width : 0,
      high: line ? (line.getBoundingClientRect().right - plot.getBoundingClientRect().left) / plot.getBoundingClientRect().width : 0});
  }
  for (const t of doc.querySelectorAll('table')) out.tables.push([t.caption.textContent, ...[...t.rows].map(r => [...r.cells].map(c => c.textContent).join('\t'))]);
  out.panels = [...doc.querySelectorAll('.panel')].map(p => p.dataset.title);
  out.spans = Object.fromEntries([...doc.querySelectorAll('.timeline')].map(f => [f.dataset.id, [...f.querySelectorAll('rect.span')].map(r => { const b = r.getBoundingClientRect(), p = r.ownerSVGElement.getBoundingClientRect(); return [(b.left - p.left) / p.width, b.width / p.width]; })]));
  document.getElementById('out').textContent = JSON.stringify(out);
});`

// seen is what the browser says of a page.
type seen struct {
	Width, ScrollWidth, Height               float64
	Requests, Small, Faint, Outside, Overlap []string
	Dark                                     bool
	Bars                                     []seenBar
	Tables                                   [][]string
	Text, Title, Pre, Background             string
	Scripts, Texts                           int
	Scrolls                                  []float64 // how far tables reach out of their frames, pixels
	Images, IDs, Panels                      []string
	Links                                    []bool
	Spans                                    map[string][][2]float64
}

type seenBar struct {
	Section, ID, Shown, Missing string
	Value, Share, Low, High     float64
	Dots                        int
}

var outPattern = regexp.MustCompile(`(?s)<pre id="out">(.*?)</pre>`)

// look opens a page in a frame of the given width and measures it.
func look(t *testing.T, page []byte, width int, scheme string) seen {
	t.Helper()
	s := serve(t, page)
	dom := run(t, "--window-size=1400,1000", "--virtual-time-budget=10000", "--dump-dom",
		fmt.Sprintf("%s/frame?measure&width=%d&height=900&scheme=%s", s.URL, width, scheme))
	m := outPattern.FindSubmatch(dom)
	if m == nil || len(m[1]) == 0 {
		t.Fatalf("the page was not measured:\n%.2000s", dom)
	}
	var x seen
	if err := json.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &x); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x.Requests = append(x.Requests, s.asked...)
	return x
}

// TestScreenshots makes pictures for people to look at:
//
//	go test ./internal/report/page -run Screenshots -screenshots /tmp/shots
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("no -screenshots directory")
	}
	dir, err := filepath.Abs(*screenshots)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string][]byte{"ladder": render(t, ladder()), "small": render(t, small(t))} {
		for _, width := range []int{1280, 380} {
			for _, scheme := range []string{"light", "dark"} {
				height := int(look(t, page, width, scheme).Height)
				s := serve(t, page)
				file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
				run(t, fmt.Sprintf("--window-size=%d,%d", max(width, 500), height), "--virtual-time-budget=5000", "--screenshot="+file,
					fmt.Sprintf("%s/frame?width=%d&height=%d&scheme=%s", s.URL, width, height, scheme))
				t.Log(file)
			}
		}
		pdf := filepath.Join(dir, name+".pdf")
		s := serve(t, page)
		run(t, "--virtual-time-budget=5000", "--no-pdf-header-footer", "--print-to-pdf="+pdf, s.URL+"/page")
		t.Log(pdf)
	}
}

func render(t testing.TB, p Page) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
