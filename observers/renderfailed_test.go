package observers

import (
	"errors"
	"strconv"
	"testing"

	"github.com/webindexer/indexer/txn"
)

// TestManyFail: however many pages the browser fails at, each is given up after three attempts,
// and what is remembered of them has a bound.
func TestManyFail(t *testing.T) {
	var x renderer
	for page := range maxFailed + 10 {
		for attempt := 1; attempt <= renderAttempts; attempt++ {
			if got := x.failsAt(strconv.Itoa(page)); got != (attempt == renderAttempts) {
				t.Fatalf("page %d, attempt %d: given up: %v", page, attempt, got)
			}
		}
	}
	if len(x.failed) > maxFailed {
		t.Errorf("%d pages are remembered", len(x.failed))
	}
}

// TestFailuresInARow: a page is given up after three failures in a row: of the browser (f), or
// that may be the machine's (m). A form (+), or giving up because of what may be the machine's
// failure, begins anew.
func TestFailuresInARow(t *testing.T) {
	for _, c := range []struct{ attempts, stored string }{
		{"ff+ff+", "..+..+"},
		{"mm+mm+", "..+..+"},
		{"fm+mf+", "..+..+"},
		{"mmmmmm", "..m..m"},
		{"mmmff+", "..m..+"},
		{"fff", "..f"},
		{"mmf", "..f"},
	} {
		db := bare(t)
		var x renderer
		stored := ""
		for _, what := range c.attempts {
			write(t, db, func(tx *txn.Txn) error {
				made, err := &Rendering{HTML: []byte("form")}, error(nil)
				switch what {
				case 'f':
					made, err = nil, errors.New("the browser is gone")
				case 'm':
					made = &Rendering{Failure: "it took too long", MayPass: true}
				}
				made, err = x.judge(t.Context(), tx, "page", made, err)
				switch {
				case err != nil:
					stored += "."
				case made.Failure == browserFailed:
					stored += "f"
				case made.Failure != "":
					stored += "m"
				default:
					stored += "+"
				}
				return nil
			})
		}
		if stored != c.stored {
			t.Errorf("attempts %s: %s, want %s", c.attempts, stored, c.stored)
		}
	}
}
