package page

import (
	"net/http"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		value string
		want  time.Duration
		ok    bool
	}{
		{"0", 0, true},
		{"120", 2 * time.Minute, true},
		{" 7\t", 7 * time.Second, true},
		{"2592000", MaxRetryAfter, true},
		{"2592001", MaxRetryAfter, true},
		{"99999999999999999999999999", MaxRetryAfter, true},
		{"Fri, 20 Nov 2026 12:00:30 GMT", 30 * time.Second, true},
		{"Friday, 20-Nov-26 12:00:30 GMT", 30 * time.Second, true},
		{"Fri Nov 20 12:00:30 2026", 30 * time.Second, true},
		{"Fri, 20 Nov 2026 11:59:30 GMT", 0, true},
		{"Fri, 01 Jan 9999 00:00:00 GMT", MaxRetryAfter, true},
		{"", 0, false},
		{"-1", 0, false},
		{"+1", 0, false},
		{"1.5", 0, false},
		{"1e3", 0, false},
		{"soon", 0, false},
		{"١٢", 0, false},
	} {
		got, ok := RetryAfter(http.Header{"Retry-After": {c.value}}, noon)
		if got != c.want || ok != c.ok {
			t.Errorf("%q: %v, %v; want %v, %v", c.value, got, ok, c.want, c.ok)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Fri, 20 Nov 2026 12:00:30 GMT")
	f.Fuzz(func(t *testing.T, value string) {
		wait, ok := RetryAfter(http.Header{"Retry-After": {value}}, noon)
		if wait < 0 || wait > MaxRetryAfter || !ok && wait != 0 {
			t.Errorf("%q: %v, %v", value, wait, ok)
		}
		if got, _ := RetryAfter(http.Header{"Retry-After": {value}, "Date": {noon.Format(http.TimeFormat)}}, time.Time{}); got != wait {
			t.Errorf("%q: %v with the server's date, %v with ours", value, got, wait)
		}
	})
}
