package cli

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web"
)

// secretHeaders returns the header fields for single sites, keyed by page.URL.Site. Files
// are read here, once, so a secret is only in memory and in requests to its site.
func secretHeaders(lines string) (map[string]http.Header, error) {
	bySite := make(map[string]http.Header)
	for _, h := range config.Headers(lines) {
		u, err := page.ParseURL(h.Site + "/")
		if err != nil {
			return nil, &usageError{reason: fmt.Sprintf("crawl.headers: %s: %v", h.Site, err), help: "indexer crawl"}
		}
		value, err := withSecret(h.Value)
		if err != nil {
			return nil, err
		}
		fields := bySite[u.Site()]
		if fields == nil {
			fields = make(http.Header)
			bySite[u.Site()] = fields
		}
		fields.Add(h.Name, value)
	}
	return bySite, nil
}

// withSecret replaces @PATH, if it is the last word of a value, by the first line of the
// file PATH. "@@" means "@".
func withSecret(value string) (string, error) {
	at := strings.LastIndexByte(value, ' ') + 1
	word := value[at:]
	if strings.HasPrefix(word, "@@") {
		return value[:at] + word[1:], nil
	}
	name, isFile := strings.CutPrefix(word, "@")
	if !isFile {
		return value, nil
	}
	secret, err := web.ReadSecret(name)
	if err != nil {
		return "", &inputError{what: name, reason: "crawl.headers refers to this file, which cannot be read: " + systemReason(errors.Unwrap(err))}
	}
	secret = strings.TrimSpace(secret)
	if secret == "" || strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", &inputError{what: name, reason: "crawl.headers refers to this file, but its first line is empty or not allowed in a header field"}
	}
	return value[:at] + secret, nil
}
