package warc

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/webindexer/indexer/internal/coding"
	"github.com/webindexer/indexer/page"
)

// Fetch returns the fetch of a response, resource or revisit record of an http or https
// URL. It returns false for all other records, and for records without a usable URL or
// date; unexpected reasons are reported as problems of the Reader.
//
// If the body is not available, the fetch has Err set, and the problem is reported. The
// fetch shares no memory with the Reader. Call Fetch once per record.
func (rec *Record) Fetch() (page.Fetch, bool) {
	switch rec.Type {
	case "response", "resource", "revisit":
	case "continuation":
		rec.problem("segmented records are not supported: skipped")
		return page.Fetch{}, false
	default:
		return page.Fetch{}, false
	}
	f, ok := rec.identify()
	if !ok {
		return page.Fetch{}, false
	}
	if err := rec.fill(&f); err != nil {
		f.Err, f.Body, f.Revisit = err.Error(), nil, false
		if rec.Damage == "" { // otherwise it has been reported
			rec.problem(err.Error() + ": counts as a failed fetch")
		}
	}
	stats := &rec.reader.stats
	stats.Fetches++
	if f.Err != "" {
		stats.Failed++
	}
	return f, true
}

// identify sets the URL and time of the fetch.
func (rec *Record) identify() (page.Fetch, bool) {
	if rec.TargetURI == "" {
		rec.problem("no WARC-Target-URI: skipped")
		return page.Fetch{}, false
	}
	u, err := page.ParseURL(rec.TargetURI)
	if errors.Is(err, page.ErrNotHTTP) {
		rec.reader.stats.OtherSchemes++
		return page.Fetch{}, false
	}
	if err != nil {
		rec.problem(err.Error() + ": skipped")
		return page.Fetch{}, false
	}
	date, err := rec.Date()
	if err != nil {
		rec.problem(err.Error() + ": skipped")
		return page.Fetch{}, false
	}
	return page.Fetch{URL: u, Time: date}, true
}

// fill sets the response of the fetch.
func (rec *Record) fill(f *page.Fetch) error {
	if rec.Damage != "" {
		return errors.New(rec.Damage)
	}
	if rec.Type == "revisit" {
		rec.fillRevisit(f)
		return nil
	}
	if rec.Fields.Get("WARC-Segment-Number") != "" {
		return errors.New("segmented records are not supported")
	}
	if rec.Type == "resource" && !isHTTP(rec.Block) {
		return rec.fillResource(f)
	}
	resp, err := parseResponse(rec.Block)
	if err != nil {
		return err
	}
	f.Status, f.Header = resp.status, resp.header
	if resp.status == http.StatusNotModified {
		f.Revisit = true
		return nil
	}
	f.Body, err = resp.payload(rec.reader.opts.MaxBody)
	return err
}

// fillRevisit needs only the time. Whatever the profile (identical payload, not modified,
// older spellings) and whatever URL the record refers to, it renews the time of this URL.
// It sets the status if one was recorded.
func (rec *Record) fillRevisit(f *page.Fetch) {
	f.Revisit = true
	if resp, err := parseResponse(rec.Block); err == nil {
		f.Status, f.Header = resp.status, resp.header
	} else if strings.Contains(rec.Fields.Get("WARC-Profile"), "server-not-modified") {
		f.Status = http.StatusNotModified
	}
}

// fillResource treats the block as the body of a 200 response.
func (rec *Record) fillResource(f *page.Fetch) error {
	if limit := rec.reader.opts.MaxBody; int64(len(rec.Block)) > limit {
		return fmt.Errorf("%w of %d bytes", coding.ErrTooLong, limit)
	}
	f.Status, f.Header, f.Body = http.StatusOK, http.Header{}, bytes.Clone(rec.Block)
	if t := rec.Fields.Get("Content-Type"); t != "" {
		f.Header.Set("Content-Type", toUTF8(t))
	}
	return nil
}

func isHTTP(block []byte) bool {
	return bytes.HasPrefix(block, []byte("HTTP/")) && headerEnd(block, 0) > 0
}
