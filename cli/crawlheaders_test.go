package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretHeaders(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token, empty := file("token", "  s3cret \r\nmore\n"), file("empty", "\nx")
	bad := file("bad", "a\x00b\n")
	for value, want := range map[string]string{
		"Bearer @" + token:        "Bearer s3cret",
		"@" + token:               "s3cret",
		"plain":                   "plain",
		"to @@home":               "to @home",
		"Bearer @" + empty:        "",
		"Bearer @" + bad:          "",
		"Bearer @" + dir + "/not": "",
	} {
		bySite, err := secretHeaders("https://A.example:443 Authorization: " + value + "\nhttps://a.example X-Other: 1")
		switch got := bySite["https://a.example"].Get("Authorization"); {
		case want == "" && err == nil:
			t.Errorf("%q: no error", value)
		case want == "" && strings.Contains(err.Error(), "b\n"):
			t.Errorf("%q: %v", value, err)
		case want != "" && (err != nil || got != want):
			t.Errorf("%q: got %q, %v; want %q", value, got, err, want)
		}
	}
}
