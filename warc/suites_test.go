package warc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

const suites = "../../shared/suites/warc"

// readAll reads a whole file and fails the test on an error of the file.
func readAll(t testing.TB, path string, opts Options) ([]page.Fetch, *Reader) {
	t.Helper()
	r, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var fetches []page.Fetch
	for f, err := range r.Fetches() {
		if err != nil {
			t.Fatal(err)
		}
		fetches = append(fetches, f)
	}
	return fetches, r
}

func needShared(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared material is not here: %v", err)
	}
}

// TestMutants reads malformed files of three pages each. What must be read is
// there with the exact body; nothing is there with another body than its own; and
// what is wrong is reported.
func TestMutants(t *testing.T) {
	dir := filepath.Join(suites, "mutants")
	needShared(t, dir)
	var spec struct {
		Bodies map[page.URL]string `json:"body_sha256"`
		Files  map[string]struct {
			Must, May []string
			Flag      bool
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	// Files whose second record is whole but has another body.
	otherBody := map[string]string{
		"http-headers-only.warc": "an empty page",
		"http-status-999.warc":   "not a page", "http-redirect-no-location.warc": "not a page",
		"http-redirect-bad-location.warc": "not a page", "http-redirect-self.warc": "not a page",
		"http-length-short.warc": "HTTP length ignored", "http-length-long.warc": "HTTP length ignored",
		"http-brotli-unknown.warc": "it is brotli for hello",
	}
	for name, want := range spec.Files {
		t.Run(name, func(t *testing.T) {
			fetches, r := readAll(t, filepath.Join(dir, name), Options{})
			var exact []string
			for _, f := range fetches {
				if f.Err != "" || f.Revisit {
					continue
				}
				sum := sha256.Sum256(f.Body)
				switch {
				case spec.Bodies[f.URL] == hex.EncodeToString(sum[:]):
					exact = append(exact, string(f.URL))
				case spec.Bodies[f.URL] != "" && otherBody[name] == "":
					t.Errorf("%s is returned with another body: %.80q", f.URL, f.Body)
				}
			}
			for _, u := range want.Must {
				if !slices.Contains(exact, u) {
					t.Errorf("%s is missing", u)
				}
			}
			for _, u := range exact {
				if !slices.Contains(want.Must, u) && !slices.Contains(want.May, u) && otherBody[name] == "" {
					t.Errorf("%s should not be there", u)
				}
			}
			n := r.Stats().Problems
			if want.Flag && n == 0 {
				t.Error("nothing is reported")
			}
			if !want.Flag && len(want.May) == 0 && len(want.Must) == len(spec.Bodies) && n > 0 {
				t.Errorf("reported though good: %v", r.Problems())
			}
			t.Log(strings.Join(exact, " "), r.Problems())
		})
	}
}
