package sites

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/webindexer/indexer/warc"
)

// ErrNoneSelected says that a site has nothing to pack.
var ErrNoneSelected = errors.New("none of its fetches is in the selected time range")

// PackOptions says what to pack. The zero value packs everything.
type PackOptions struct {
	// From and Until select the fetches with From ≤ time < Until, so that one history can be
	// packed as several crawls. A zero time means no bound.
	From, Until time.Time
}

func (o PackOptions) selects(t time.Time) bool {
	return !t.Before(o.From) && (o.Until.IsZero() || t.Before(o.Until))
}

// Pack writes the site as a WARC/1.1 file, with a gzip member per record, in the order
// of the text. The same site and options give the same bytes. A failed fetch becomes a
// response record with an empty block: an answer without a status line, which WARC readers
// also treat as a failure. It returns the number of fetches written.
func Pack(dst io.Writer, s *Site, opts PackOptions) (int, error) {
	w := warc.NewWriter(dst)
	first, n := s.span(opts)
	if n == 0 {
		return 0, fmt.Errorf("pack site %s: %w (it has %d)", s.Name, ErrNoneSelected, len(s.entries))
	}
	err := w.WriteInfo(first, warc.Fields{
		{Name: "software", Value: "indexer"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "isPartOf", Value: s.Name},
	})
	if err != nil {
		return 0, fmt.Errorf("pack site %s: %w", s.Name, err)
	}
	for i := range s.entries {
		e := &s.entries[i]
		if !opts.selects(e.fetch.Time) {
			continue
		}
		if err := e.pack(w); err != nil {
			return 0, fmt.Errorf("pack site %s, line %d: %w", s.Name, e.line, err)
		}
	}
	return n, nil
}

// span returns the earliest time and the number of the selected fetches.
func (s *Site) span(opts PackOptions) (first time.Time, n int) {
	for i := range s.entries {
		t := s.entries[i].fetch.Time
		if !opts.selects(t) {
			continue
		}
		if n == 0 || t.Before(first) {
			first = t
		}
		n++
	}
	return first, n
}

func (e *entry) pack(w *warc.Writer) error {
	f := e.fetch
	f.Header, f.Body = e.wireHeader, e.wireBody
	if f.Status != 0 {
		return w.WriteFetch(&f)
	}
	_, err := w.Write(warc.Fields{
		{Name: "WARC-Type", Value: "response"},
		{Name: "WARC-Date", Value: f.Time.Format(time.RFC3339Nano)},
		{Name: "WARC-Target-URI", Value: string(f.URL)},
		{Name: "Content-Type", Value: "application/http; msgtype=response"},
	}, nil)
	return err
}
