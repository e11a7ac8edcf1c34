package cli

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/repository/snapshot"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) snapshot.Moment { return snapshot.Moment{Time: now.Add(-d)} }
	for in, want := range map[string]snapshot.Moment{
		"":                          {},
		"now":                       {},
		"1234":                      {TS: 1234},
		"18446744073709551615":      {TS: 1<<64 - 1},
		"2026-03-05T12:00:00Z":      at(0),
		"2026-03-05T14:00:00+02:00": at(0),
		"2026-03-05T11:59:59.5Z":    at(500 * time.Millisecond),
		"2026-03-04":                at(36 * time.Hour),
		"2h":                        at(2 * time.Hour),
		"-2h":                       at(2 * time.Hour),
		"2h ago":                    at(2 * time.Hour),
		"-1h30m ago":                at(90 * time.Minute),
		"3d":                        at(72 * time.Hour),
		"1d 2h ago":                 at(26 * time.Hour),
		"250ms":                     at(250 * time.Millisecond),
	} {
		got, err := parseMoment(in, now)
		if err != nil || got.TS != want.TS || !got.Time.Equal(want.Time) {
			t.Errorf("%q is %+v, %v; want %+v", in, got, err, want)
		}
		asked, err := json.Marshal(inspectRequest{Moment: got})
		if err != nil {
			t.Error(err)
		}
		var back inspectRequest
		if err := json.Unmarshal(asked, &back); err != nil || back.TS != want.TS || !back.Time.Equal(want.Time) {
			t.Errorf("%q is asked as %s, which is %+v, %v", in, asked, back, err)
		}
	}
	for _, in := range []string{"0001-01-01", "0001-01-01T00:00:00Z", "0001-01-01T01:00:00+01:00"} {
		if m, err := parseMoment(in, now); err != nil || m.IsNow() {
			t.Errorf("%q is %s, %v; want a moment of the past", in, m, err)
		}
	}
	for _, in := range []string{"0", "-0", "-", "ago", "--2h", "2h later", "yesterday", "2026-13-01", "d", "99999999d", "1.5", "-0x5", "99999999999999999999", "65535d 2000000h"} {
		m, err := parseMoment(in, now)
		if _, usage := errors.AsType[*usageError](err); !usage || !strings.Contains(err.Error(), strconv.Quote(in)) {
			t.Errorf("%q is %+v, %v", in, m, err)
		}
	}
}
