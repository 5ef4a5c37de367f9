package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// Logins by other mechanisms than a password of the server reach it as the connection string says, with what proves them, and no secret is shown.
func TestLoginsOfClouds(t *testing.T) {
	t.Parallel()
	const aws = "AKIA123:s3cr3t%2Fkey@/?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:s3cr3ttoken"
	const pod = "@/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:k8s"
	refusal := bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "Authentication failed."}, {Key: "code", Value: 18}, {Key: "codeName", Value: "AuthenticationFailed"}}
	for _, c := range []struct {
		name, login, mechanism string
		proof                  []string // in what the client sends
		token                  string   // of the pod
		refused                bool
		code                   int
		says                   string
	}{
		{"AWS", aws, "MONGODB-AWS", []string{"Credential=AKIA123/", "s3cr3ttoken"}, "", false, exitOK, ""},
		{"AWS, refused", aws, "MONGODB-AWS", nil, "", true, exitUnreachable, "check the credentials in --uri"},
		{"a pod", pod, "MONGODB-OIDC", []string{"s3cr3t.pod.token"}, "s3cr3t.pod.token\n", false, exitOK, ""},
		{"a pod, refused", pod, "MONGODB-OIDC", []string{"s3cr3t.pod.token"}, "s3cr3t.pod.token", true, exitUnreachable, "mrbench logs in by workload identity"},
		{"a pod without a token", pod, "", nil, "", false, exitUnreachable, "the token of this pod: "},
		{"a directory service", "ann:s3cr3t@/?authMechanism=PLAIN", "PLAIN", []string{"\x00ann\x00s3cr3t"}, "", false, exitOK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked string
			var sent []byte
			reply := func(done bool, payload []byte) bson.D {
				return bson.D{{Key: "conversationId", Value: int32(1)}, {Key: "done", Value: done}, {Key: "payload", Value: primitive.Binary{Data: payload}}, {Key: "ok", Value: 1.0}}
			}
			m := mimic.Start(t, mimic.Config{Own: func(_ context.Context, cmd mongofake.Command) bson.D {
				if cmd.Name != "saslStart" && cmd.Name != "saslContinue" {
					return nil
				}
				_, payload := cmd.Body.Lookup("payload").Binary()
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, payload...)
				if mechanism, ok := cmd.Body.Lookup("mechanism").StringValueOK(); ok {
					asked = mechanism + " in " + cmd.DB
				}
				switch {
				case c.refused:
					return refusal
				case cmd.Name == "saslStart" && c.mechanism == "MONGODB-AWS":
					_, nonce := bson.Raw(payload).Lookup("r").Binary()
					first, err := bson.Marshal(bson.D{{Key: "s", Value: primitive.Binary{Data: append(nonce, make([]byte, 32)...)}}, {Key: "h", Value: "sts.amazonaws.com"}})
					if err != nil {
						t.Error(err)
					}
					return reply(false, first)
				}
				return reply(true, nil)
			}})
			s := newSession(t)
			file := filepath.Join(s.dir, "token")
			if c.token != "" {
				if err := os.WriteFile(file, []byte(c.token), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			host := strings.TrimSuffix(strings.TrimPrefix(m.URI(), "mongodb://"), "/")
			login, options, _ := strings.Cut(c.login, "/")
			uri := "mongodb://" + strings.TrimPrefix(login, "@") + host + "/" + options
			var out, errs bytes.Buffer
			env := s.environ([]string{"doctor", "--uri", uri, "--timeout", "3s"}, &out, &errs)
			lookup := env.LookupEnv
			env.LookupEnv = func(name string) (string, bool) {
				if name == "AZURE_FEDERATED_TOKEN_FILE" {
					return file, true
				}
				return lookup(name)
			}

			if code := Run(t.Context(), env); code != c.code || !strings.Contains(errs.String(), c.says) {
				t.Errorf("exit code %d: %s", code, &errs)
			}
			if strings.Contains(out.String()+errs.String(), "s3cr3t") {
				t.Errorf("a secret is told: %s%s", &out, &errs)
			}
			if c.mechanism == "" {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if asked != c.mechanism+" in $external" {
				t.Errorf("asked to log in by %q", asked)
			}
			for _, part := range c.proof {
				if !bytes.Contains(sent, []byte(part)) {
					t.Errorf("no %q in %q", part, sent)
				}
			}
		})
	}
}
