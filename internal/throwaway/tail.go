package throwaway

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// tailBytes is how much of a server's output is kept.
const tailBytes = 64 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > 2*tailBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-tailBytes:]...)
	}
	return len(p), nil
}

func (t *tail) contains(word string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(bytes.ToLower(t.b), []byte(word))
}

// Lines that say why a server ended: of severity error or fatal, or about a failure, which 4.0 calls information.
var troubling = regexp.MustCompile(`(?i)^\S+ [EF] |exception|error|fail|fatal|assert`)

// A time and the thread's place in the log of before 4.4.
var linePrefix = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\S+ ([EFWID]) +(\S+) +\[[^\]]*\] *`)

const (
	quotedLines = 3
	quotedRunes = 240 // of a line
)

// excerpt is the last few lines that matter, as one text.
func (t *tail) excerpt() string {
	t.mu.Lock()
	text := string(t.b)
	t.mu.Unlock()
	var all, bad []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		message, troubled := readLine(line)
		all = append(all, message)
		if troubled {
			bad = append(bad, message)
		}
	}
	if len(bad) > 0 {
		all = bad
	}
	if len(all) == 0 {
		return "it said nothing"
	}
	all = all[max(0, len(all)-quotedLines):]
	for i := range all {
		all[i] = shorten(all[i], quotedRunes)
	}
	return "its log ends: " + strings.Join(all, " | ")
}

// readLine takes a line of a log, of before or since 4.4, to what is of interest.
func readLine(line string) (message string, troubled bool) {
	var entry struct {
		Severity string          `json:"s"`
		Message  string          `json:"msg"`
		Attr     json.RawMessage `json:"attr"`
	}
	if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &entry) == nil && entry.Message != "" {
		message = entry.Message
		if len(entry.Attr) > 0 {
			message += " " + string(entry.Attr)
		}
		return message, entry.Severity == "E" || entry.Severity == "F"
	}
	return linePrefix.ReplaceAllString(line, "$1 $2 "), troubling.MatchString(line)
}
