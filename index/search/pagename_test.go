package search

import "testing"

func TestNameInPath(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"", ""},
		{"docs/custom-error.html", "custom error"},
		{"docs/api/ConsumerRebalanceListener.html", "Consumer Rebalance Listener"},
		{"docs/HTTPServer", "HTTP Server"},
		{"docs/rewrite/", "rewrite"},
		{"docs/rewrite/Index.html", "rewrite"},
		{"index.html", ""},
		{"guides/ip_clearance", "ip clearance"},
		{"generated/consumer_metrics.html", "consumer metrics"},
		{"pkg.name.Type.html", "pkg name Type"},
		{"2024/05/31/", ""},
		{"12345.html", ""},
		{"wiki/%C3%A9t%C3%A9_%ff", "été  "},
		{"wiki/100%", ""},
		{"find?q=error", ""},
	} {
		if got := nameInPath(tt.path); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.path, got, tt.want)
		}
	}
}
