package crawler

import (
	"net/http"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

func TestHeadOf(t *testing.T) {
	long := strings.Repeat("<!-- -->", maxHead/8) + "</head>"
	for _, test := range []struct{ name, kind, body, want string }{
		{"end of head", "text/html; charset=utf-8", "<html><HEAD><title>A < B</title></HeAd><body>", "<html><HEAD><title>A < B</title>"},
		{"body without end of head", "Text/HTML", "<link rel=next><BODY class=x><p>", "<link rel=next>"},
		{"letters whose lower case is longer", "text/html", "<title>İİİİ K</title></head><p>", "<title>İİİİ K</title>"},
		{"neither", "text/html", "<p>text</hea", "<p>text</hea"},
		{"only a beginning is searched", "text/html", long, long[:maxHead]},
		{"empty", "text/html", "", ""},
		{"another type", "text/plain", "<head></head>", ""},
	} {
		f := &page.Fetch{Header: http.Header{"Content-Type": {test.kind}}, Body: []byte(test.body)}
		if got := string(headOf(f)); got != test.want {
			t.Errorf("%s: %.80q, want %.80q", test.name, got, test.want)
		}
	}
}
