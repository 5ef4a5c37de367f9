package cli

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mrbench/internal/mimic"
)

func absPath(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// A password is in no output, error or file, however it is written and whatever goes wrong.
func TestPasswordsAreNowhere(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Auth: true})
	uniques(t, m, 100)
	n := 0
	for _, password := range []string{`p"w\\7%/?#[]@:x`, "pässwörd-ключ", "plain-secret", "with space&amp;<b>"} {
		user := url.UserPassword("ann", password).String()
		host := strings.TrimSuffix(strings.TrimPrefix(m.URI(), "mongodb://"), "/")
		forms := []string{password, url.QueryEscape(password), url.PathEscape(password), strings.TrimPrefix(user, "ann:")}
		for name, uri := range map[string]string{
			"no such user":  "mongodb://" + user + "@" + host + "/?authSource=admin",
			"nobody there":  "mongodb://" + user + "@127.0.0.1:1/?serverSelectionTimeoutMS=100",
			"bad option":    "mongodb://" + user + "@" + host + "/?w=-1",
			"bad host":      "mongodb://" + user + "@" + host + ":99999999/",
			"not escaped":   "mongodb://ann:" + password + "@" + host + ":x",
			"no DNS":        "mongodb+srv://" + user + "@mrbench.invalid/?serverSelectionTimeoutMS=100",
			"session token": "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100&authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:" + url.QueryEscape(password),
			"key file":      "mongodb://127.0.0.1:1/?tls=true&tlsCertificateKeyFile=/none.pem&tlsCertificateKeyFilePassword=" + url.QueryEscape(password),
			"misspelled":    "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100&tlsCertificateKeyPasword=" + url.QueryEscape(password),
		} {
			n++
			all := [][]string{
				{"run", "--save", "r.ndjson", "--uri", uri},
				{"run", "--dry-run", "--uri", uri},
				{"doctor", "-o", "json", "--uri", uri},
				{"split", uri},
				{uri},
				{"seed", "--docs", "10", "--ns", uri},
			}
			for _, args := range [][]string{all[n%6], all[(n+3)%6]} { // each meets each in the end
				s := newSession(t)
				_, stdout, stderr := s.run(args...)
				said := stdout + stderr
				err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
					if err != nil || d.IsDir() || strings.HasSuffix(path, "LOCK") {
						return err
					}
					b, err := os.ReadFile(path)
					said += string(b)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range forms {
					if strings.Contains(said, f) {
						t.Errorf("%s, %s: %q is in %s", name, args[0], f, said)
						break
					}
				}
			}
		}
	}
}
