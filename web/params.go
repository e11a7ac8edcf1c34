package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
)

// These functions read the parameters of requests. Their errors are for the client.

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// urlOf reads the URL that a request is about. The default scheme is https.
func urlOf(params url.Values) (page.URL, error) {
	raw := strings.TrimSpace(params.Get("url"))
	if raw == "" {
		return "", badRequest("the URL is missing: add ?url=https://example.org/")
	}
	u, err := page.ParseURL(raw)
	if err != nil && !strings.Contains(raw, ":") {
		u, err = page.ParseURL("https://" + raw)
	}
	if err != nil {
		return "", badRequest("the parameter url must be a complete http or https URL, such as https://example.org/")
	}
	return u, nil
}

// integer reads a parameter that is a whole number from least to most; usual is the
// value of an absent parameter.
func integer(params url.Values, name string, usual, least, most int) (int, error) {
	raw := params.Get(name)
	if raw == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < least || n > most {
		return 0, badRequest("the parameter %s must be a whole number from %d to %d", name, least, most)
	}
	return n, nil
}

// timestampOf reads a parameter that is a commit timestamp; 0, which means now, if it is absent.
func timestampOf(params url.Values, name string) (uint64, error) {
	raw := params.Get(name)
	if raw == "" {
		return 0, nil
	}
	at, err := strconv.ParseUint(raw, 10, 64)
	if err != nil {
		return 0, badRequest("the parameter %s must be the timestamp of a version, a whole number", name)
	}
	return at, nil
}

// momentOf reads the moment that a request is about: the timestamp of a commit, or a time
// in RFC 3339. The default is now.
func momentOf(params url.Values) (snapshot.Moment, error) {
	raw := strings.TrimSpace(params.Get("at"))
	if raw == "" {
		return snapshot.Moment{}, nil
	}
	if ts, err := strconv.ParseUint(raw, 10, 64); err == nil && ts > 0 {
		return snapshot.Moment{TS: ts}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, raw); err == nil {
		return snapshot.AtTime(t), nil
	}
	return snapshot.Moment{}, badRequest("the parameter at must be the timestamp of a commit or a time such as 2026-03-01T12:00:00Z")
}
