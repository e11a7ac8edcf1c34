package warc

import (
	"net/http"
	"time"

	"github.com/webindexer/indexer/page"
)

// Exchange is the recorded response of an exchange.
type Exchange struct {
	URL     page.URL
	Date    time.Time // when the request began
	Remote  string    // the server's address; "" if unknown
	Status  int
	Block   []byte // header and payload as received
	Payload []byte // the part of Block covered by the payload digest
	Request string // the id of the request's record; "" if none
}

// WriteResponse writes the response of an exchange as received. A 304 becomes a revisit
// record (IIPC revisit profile server-not-modified). It returns the offsets at which the
// record begins and ends.
func (w *Writer) WriteResponse(x Exchange) (from, to int64, err error) {
	fields := Fields{
		{"WARC-Type", "response"},
		{"WARC-Date", formatDate(x.Date)},
		{"WARC-Target-URI", string(x.URL)},
		{"WARC-Payload-Digest", labelledSHA1(x.Payload)},
		{"Content-Type", "application/http; msgtype=response"},
	}
	if x.Status == http.StatusNotModified {
		fields[0].Value = "revisit"
		fields[3] = Field{"WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified"}
	}
	if x.Remote != "" {
		fields = append(fields, Field{"WARC-IP-Address", x.Remote})
	}
	if x.Request != "" {
		fields = append(fields, Field{"WARC-Concurrent-To", x.Request})
	}
	from = w.Offset()
	_, err = w.Write(fields, x.Block)
	return from, w.Offset(), err
}

// PayloadDigest returns the digest of a payload in the form that the writer uses.
func PayloadDigest(payload []byte) string { return labelledSHA1(payload) }
