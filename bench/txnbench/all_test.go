package txnbench

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// TestAll runs everything by name at a tiny size, and looks for it in both forms.
func TestAll(t *testing.T) {
	tiny := sizes{
		cache: 1 << 18, slice: time.Millisecond, longSlice: 30 * time.Millisecond, rounds: 1,
		samples: 5, flood: 200, customers: 50, tickers: 5,
	}
	res, err := all(t.Context(), Options{Log: io.Discard}, tiny)
	if err != nil {
		t.Fatal(err)
	}
	text := res.Text()
	var decoded map[string]any
	if data, err := json.Marshal(res); err != nil || json.Unmarshal(data, &decoded) != nil {
		t.Fatal(err)
	}
	for _, name := range Names {
		if !strings.Contains(text, "("+name+")") {
			t.Errorf("%s is not in the text:\n%s", name, text)
		}
		if decoded[name] == nil {
			t.Errorf("%s is not in the JSON", name)
		}
	}
}

func TestAllByName(t *testing.T) {
	res, err := all(t.Context(), Options{Names: []string{"oracle"}, Log: io.Discard}, sizes{slice: time.Millisecond, rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Oracle) != len(goroutines) || res.Figure8 != nil || res.Brokerage != nil {
		t.Errorf("result %+v", res)
	}
}
