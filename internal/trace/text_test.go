package trace_test

import (
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/trace"
)

// TestHeadline: a journey begins with what came of it.
func TestHeadline(t *testing.T) {
	took := 12.5
	for want, j := range map[string]trace.Journey{
		"was never loaded successfully":                 {State: trace.StateUnknown},
		"was searchable 12.5 ms after it was loaded":    {Loaded: &trace.Moment{}, Searchable: &trace.Moment{}, TookMS: &took},
		"was searchable within 12.5 ms of being loaded": {Loaded: &trace.Moment{}, Searchable: &trace.Moment{}, TookMS: &took, AtLatest: true},
	} {
		j.URL = "https://a.example/"
		if got, _, _ := strings.Cut(j.Text(), "\n"); got != "https://a.example/  "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
