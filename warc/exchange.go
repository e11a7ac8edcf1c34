package warc

import (
	"net/http"
	"time"

	"github.com/webindexer/indexer/page"
)

// Exchange is a response as it was received, with what is known about its request.
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
	fields := responseFields(x.URL, x.Date, x.Payload, x.Status == http.StatusNotModified)
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
