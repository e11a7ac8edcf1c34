package page

import (
	"net/http"
	"strings"
)

// HasFailed reports whether Interpret would say Failed, without reading the
// body: such a fetch leaves in force what an earlier one said.
func (f *Fetch) HasFailed() bool {
	switch {
	case f.Err != "":
		return true
	case f.IsRevisit(), f.Status == http.StatusNotFound, f.Status == http.StatusGone:
		return false
	case isRedirectStatus(f.Status):
		return strings.TrimSpace(f.Header.Get("Location")) == ""
	}
	return f.Status < 200 || f.Status > 299
}

// NeedsBody reports whether what Interpret says depends on the body: of a
// fetch for which it does not, the body need not be kept.
func (f *Fetch) NeedsBody() bool {
	if f.Err != "" || f.IsRevisit() || f.Status < 200 || f.Status > 299 || isRobotsTxt(f.URL) {
		return false
	}
	mediaType := essence(f.Header.Get("Content-Type"))
	return !strings.Contains(mediaType, "/") || bodyKind(f) != kindOther
}
