package schema

import (
	"bytes"
	"net/http"
	"time"

	"github.com/webindexer/indexer/page"
)

// The times that can be stored: the whole years that fit into 64 bits of nanoseconds.
var (
	earliest = time.Date(1678, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2261, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// StorableTime returns t, or the nearest time that can be stored (years 1678 to 2261): a
// clock that is wrong by centuries must not wrap around.
func StorableTime(t time.Time) time.Time {
	switch {
	case t.Before(earliest):
		return earliest
	case t.After(latest):
		return latest
	}
	return t.UTC()
}

// FetchStamp decides between two fetches of one URL (semantics.md section 2): the later
// one wins, and of two at the same time, the one whose body has the greater SHA-256.
type FetchStamp struct {
	Time time.Time
	Sum  [32]byte // SHA-256 of the decoded body
}

// Newer reports whether a fetch with stamp s wins over one with stamp o.
func (s FetchStamp) Newer(o FetchStamp) bool {
	if !s.Time.Equal(o.Time) {
		return s.Time.After(o.Time)
	}
	return bytes.Compare(s.Sum[:], o.Sum[:]) > 0
}

// Encode encodes the stamp for FetchTime.
func (s FetchStamp) Encode() []byte {
	return append(enc(nil).time(s.Time), s.Sum[:]...)
}

// DecodeFetchStamp decodes a stamp.
func DecodeFetchStamp(b []byte) (FetchStamp, error) {
	d := newDec(b)
	s := FetchStamp{Time: d.time(), Sum: d.array32()}
	return s, d.done("fetch time")
}

// keptHeaders are the response headers that are stored. What a page means depends on the first four,
// and its rendered form can depend on Content-Language. Other headers come and go without a change
// of the page.
var keptHeaders = []string{"Content-Type", "Location", "Link", "X-Robots-Tag", "Content-Language", "Refresh"}

// A number added to a stored status says what a fetch is because of a setting of the repository.
const (
	asOffice   = 1 << 20 // an office document that is a page
	asResource = 1 << 21 // a resource whose body is kept
	asReading  = 1 << 22 // a document with a reading, which follows the headers
)

// EncodeContent encodes a fetch, without URL, time and body, for FetchContent: if the
// bytes are equal, nothing about the page has changed.
func EncodeContent(f *page.Fetch, sum [32]byte) []byte {
	status := uint64(f.Status)
	if f.Office {
		status += asOffice
	}
	if f.Resource {
		status += asResource
	}
	if f.Reading.Exists() {
		status += asReading
	}
	e := append(enc(nil).uint(status), sum[:]...)
	for _, name := range keptHeaders {
		e = e.strings(f.Header.Values(name))
	}
	if f.Reading.Exists() {
		e = e.reading(f.Reading)
	}
	return e
}

// DecodeContent decodes a fetch and the SHA-256 of its body.
func DecodeContent(b []byte) (f page.Fetch, sum [32]byte, err error) {
	d := newDec(b)
	status := d.Uint()
	read := status >= asReading
	if read {
		status -= asReading
	}
	if f.Resource = status >= asResource; f.Resource {
		status -= asResource
	}
	if f.Office = status >= asOffice; f.Office {
		status -= asOffice
	}
	f.Status, sum = int(status), d.array32()
	f.Header = make(http.Header)
	for _, name := range keptHeaders {
		for _, v := range d.strings() {
			f.Header.Add(name, v)
		}
	}
	if read {
		f.Reading = d.reading()
	}
	return f, sum, d.done("fetch content")
}

// EncodeTime encodes a time for FetchSeen.
func EncodeTime(t time.Time) []byte { return enc(nil).time(t) }

// DecodeTime decodes a time.
func DecodeTime(b []byte) (time.Time, error) {
	d := newDec(b)
	t := d.time()
	return t, d.done("time")
}

// Failure is the newest failed fetch of a URL.
type Failure struct {
	Time   time.Time
	Status int    // 0 without a response
	Reason string // why the fetch counts as failed
}

// Encode encodes the failure for FetchFailure.
func (f Failure) Encode() []byte {
	return enc(nil).time(f.Time).uint(uint64(f.Status)).string(f.Reason)
}

// DecodeFailure decodes a failure.
func DecodeFailure(b []byte) (Failure, error) {
	d := newDec(b)
	f := Failure{Time: d.time(), Status: int(d.Uint()), Reason: d.Text()}
	return f, d.done("failure")
}

// EncodeBody encodes a body for Body.
func EncodeBody(b []byte) []byte { return pack(b) }

// DecodeBody decodes a body.
func DecodeBody(b []byte) ([]byte, error) { return unpack(b, "body") }

// ReadBody decodes a body and calls use with it. The bytes are valid only until use returns.
func ReadBody(b []byte, use func(body []byte)) error {
	return readUnpacked(b, "body", func(d dec) error {
		use(d.Rest())
		return nil
	})
}
