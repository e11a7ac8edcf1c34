package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeText(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A server takes its settings from the file; the environment goes before that, and a flag
// before the environment. Told by which token is asked for. Without --crawl it reads no secrets of
// sites.
func TestServeSettings(t *testing.T) {
	data := lighthouseData(t)
	token := func(name string) (secret, file string) {
		secret = strings.Repeat(name, 4)
		return secret, writeText(t, name, secret+"\n")
	}
	inFile, file := token("file-")
	inEnv, env := token("env--")
	inFlag, flag := token("flag-")
	settings := writeText(t, "config.yaml", "serve:\n  token_file: "+file+"\n  pprof: true\n  allow_hosts: [index.example]\ncrawl:\n  headers: ['https://a.example Authorization: Bearer @none']\n")
	admitted := func(s *served, secret, path string) bool {
		status, _ := s.do(path, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) })
		return status == http.StatusOK
	}
	check := func(what, wants string, args ...string) {
		t.Helper()
		s := startServe(t, append([]string{"--data", data, "--config", settings, "serve"}, args...)...)
		for _, secret := range []string{inFile, inEnv, inFlag} {
			if got := admitted(s, secret, "/"); got != (secret == wants) {
				t.Errorf("%s: the token %s is admitted: %v", what, secret, got)
			}
		}
		if !admitted(s, wants, "/debug/pprof/") {
			t.Errorf("%s: there are no profiles", what)
		}
		s.stop()
	}
	check("file", inFile)
	t.Setenv("INDEXER_SERVE_TOKEN_FILE", env)
	check("environment above file", inEnv)
	check("flag above environment", inFlag, "--token-file", flag)

	s := startServe(t, "--data", data, "--config", settings, "serve", "--token-file", "", "--pprof=false")
	if status, _ := s.do("/", nil); status != http.StatusOK {
		t.Errorf("a flag that takes the token away: %d", status)
	}
	if status, _ := s.do("/debug/pprof/", nil); status != http.StatusNotFound {
		t.Errorf("a flag that takes profiles away: %d", status)
	}
	for host, want := range map[string]int{"Index.Example": http.StatusOK, "other.example": http.StatusMisdirectedRequest} {
		if status, _ := s.do("/", func(r *http.Request) { r.Host = host }); status != want {
			t.Errorf("called %s: %d, want %d", host, status, want)
		}
	}
	s.stop()
}

// What the settings say together that cannot be meant is refused, and nothing is opened.
func TestServeSettingsRefused(t *testing.T) {
	for want, text := range map[string]string{
		"serve.listen: \"7070\" is not allowed": "serve:\n  listen: \"7070\"\n",
		"serve.token_file) excludes":            "serve:\n  user: a\n  password_file: b\n  token_file: c\n",
		"must be given together":                "serve:\n  user: a\n",
		"none: serve.token_file refers to this file, which cannot be read: no such file":    "serve:\n  token_file: none\n",
		"none: serve.password_file refers to this file, which cannot be read: no such file": "serve:\n  user: a\n  password_file: none\n",
		"(tls.token): open none: no such file":                                              "store: postgres://x@127.0.0.1:1/x\noracle: 127.0.0.1:1\ntls:\n  token: none\nserve:\n  listen: 127.0.0.1:0\n",
		"(tls.ca): open none: no such file":                                                 "store: postgres://x@127.0.0.1:1/x\noracle: 127.0.0.1:1\ntls:\n  ca: none\nserve:\n  listen: 127.0.0.1:0\n",
		"(tls.cert, tls.key): open none: no such file":                                      "store: postgres://x@127.0.0.1:1/x\noracle: 127.0.0.1:1\ntls:\n  cert: none\n  key: none\nserve:\n  listen: 127.0.0.1:0\n",
		"--allow-remote": "serve:\n  listen: 0.0.0.0:0\n",
		"--token-file":   "serve:\n  listen: 0.0.0.0:0\n  allow_remote: true\n",
		"serve.request_time: \"1ms\" is not allowed; want a time like": "serve:\n  request_time: 1ms\n",
	} {
		data := filepath.Join(t.TempDir(), "data")
		var out, errs strings.Builder
		status := run(t.Context(), []string{"--data", data, "--config", writeText(t, "config.yaml", text), "serve"}, strings.NewReader(""), &out, &errs)
		if status != statusUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: exit status %d: %s", text, status, errs.String())
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%q: the data directory was made", text)
		}
	}
}
