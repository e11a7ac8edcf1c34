package config

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"
)

// TestValues tries values at the bounds of settings, and of forms that are nearly right.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		key              string
		allowed, refused []string
	}{
		{"crawl.proxy", []string{"", "http://proxy.example:3128", "https://proxy.example", "socks5://10.0.0.1:1080"}, []string{"proxy.example:3128", "http:/proxy", "http://", "socks5:", "ftp://proxy.example", "http://%zz"}},
		{"crawl.user_agent", []string{"", "Our-Indexer/2", "indexer"}, []string{"crawler", "indexer\n", "indexer\x7f"}},
		{"crawl.depth", []string{"-1", "0", "1000000"}, []string{"-2", "1000001", "1.5", ""}},
		{"crawl.concurrency", []string{"1", "10000"}, []string{"0", "10001"}},
		{"crawl.delay", []string{"0s", "24h"}, []string{"-1ns", "24h0m0.000000001s", "5"}},
		{"crawl.revisit_max", []string{"24h", "8760h"}, []string{"59m", "8760h1ns"}},
		{"crawl.headers", []string{"", "https://a.example X-09Az!#$%&'*+-.^_`|~: x"}, []string{"https://a.example?q X: x", "https://a.example#f X: x", "https://a.example X(: x"}},
		{"serve.allow_origins", []string{"", "http://localhost:8000", "https://a-z.example"}, []string{"https://A.example", "https://Z.example", "https://*.example", "https://\u00e4.example", "https://a.example\x7f"}},
		{"serve.request_time", []string{"100ms", "10m"}, []string{"99ms", "10m1ns"}},
		{"query.limit", []string{"1", "1000"}, []string{"0", "1001"}},
		{"query.weights.title", []string{"0", "1000"}, []string{"-0.001", "1000.1", "NaN", "Inf"}},
		{"rank_tolerance", []string{"0", "0.000001", "0.1"}, []string{"0.0000009", "0.11", "-1", "NaN"}},
	} {
		for _, v := range c.allowed {
			if _, err := Load("testdata/empty.good.yaml", map[string]Flag{c.key: {"flag", v}}); err != nil {
				t.Errorf("%s %q: %v", c.key, v, err)
			}
		}
		for _, v := range c.refused {
			if _, err := Load("testdata/empty.good.yaml", map[string]Flag{c.key: {"flag", v}}); err == nil || !strings.Contains(err.Error(), c.key) {
				t.Errorf("%s %q: got %v, want an error that names the setting", c.key, v, err)
			}
		}
	}
}

// TestLargestFile parses a file of the greatest size.
func TestLargestFile(t *testing.T) {
	data := bytes.Repeat([]byte{'\n'}, maxFile)
	if entries, err := parse("large.yaml", data); err != nil || len(entries) > 0 {
		t.Errorf("%d bytes: %v, %v", len(data), entries, err)
	}
	if _, err := parse("large.yaml", append(data, '\n')); err == nil {
		t.Errorf("%d bytes: no error", len(data)+1)
	}
}

// TestLimitMemory: the garbage collector gets the limit, and works less often if there is room. What the
// environment says takes precedence.
func TestLimitMemory(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	defer func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}()
	for _, c := range []struct {
		memory       int // MiB
		limit, gogc  string
		wantLimit    int64
		wantsPercent int
	}{
		{2047, "", "", 2047 << 20, 100},
		{2048, "", "", 2 << 30, 200},
		{2048, "1GiB", "", 1 << 40, 200},
		{2048, "", "50", 2 << 30, 100},
	} {
		t.Setenv("GOMEMLIMIT", c.limit)
		t.Setenv("GOGC", c.gogc)
		debug.SetMemoryLimit(1 << 40)
		debug.SetGCPercent(100)
		(&Config{Memory: c.memory}).LimitMemory()
		if l, p := debug.SetMemoryLimit(-1), debug.SetGCPercent(100); l != c.wantLimit || p != c.wantsPercent {
			t.Errorf("memory %d, GOMEMLIMIT=%q, GOGC=%q: limit %d, percentage %d; want %d, %d", c.memory, c.limit, c.gogc, l, p, c.wantLimit, c.wantsPercent)
		}
	}
}
