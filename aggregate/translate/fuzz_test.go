package translate_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mrbench/aggregate/translate"
	"mrbench/mr/jobfile"
)

// Whatever a job says, it is translated or refused.
func FuzzTranslate(f *testing.F) {
	names, err := filepath.Glob(filepath.Join(jobsDir, "*.js"))
	if err != nil || len(names) == 0 {
		f.Fatal(err, names)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), false)
	}
	f.Fuzz(func(t *testing.T, text string, plain bool) {
		if len(text) > 4000 {
			t.Skip()
		}
		j, err := jobfile.Parse("job.js", []byte(text))
		if err != nil {
			return
		}
		r, err := translate.Translate(j, translate.Options{Plain: plain, AllowJS: plain})
		if err != nil {
			if strings.Contains(err.Error(), "the translator failed") {
				t.Error(err)
			}
			return
		}
		if _, err := r.Go(); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	})
}

var words = regexp.MustCompile(`[A-Za-z_]+|[0-9.]+|\s+|[=!<>&|+-]+|.`)

// TestMutatedJobs tries jobs whose words were exchanged, left out or doubled.
func TestMutatedJobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var texts []string
	for _, name := range jobNames(t) {
		b, err := os.ReadFile(filepath.Join(jobsDir, name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	parsed, translated := 0, 0
	for range 6000 {
		text := texts[rng.IntN(len(texts))]
		w := words.FindAllString(text, -1)
		for range 1 + rng.IntN(3) {
			i, k := rng.IntN(len(w)), rng.IntN(len(w))
			switch rng.IntN(3) {
			case 0:
				w[i] = w[k]
			case 1:
				w[i] = ""
			case 2:
				w[i] += " " + w[k]
			}
		}
		text = strings.Join(w, "")
		j, err := jobfile.Parse("job.js", []byte(text))
		if err != nil {
			continue
		}
		parsed++
		r, err := translate.Translate(j, translate.Options{Plain: parsed%2 == 0})
		if err != nil {
			if strings.Contains(err.Error(), "the translator failed") {
				t.Errorf("%v\n%s", err, text)
			}
			continue
		}
		translated++
		if _, err := r.Go(); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if parsed < 500 || translated < 100 {
		t.Errorf("%d parsed, %d translated: too few to prove anything", parsed, translated)
	}
}
