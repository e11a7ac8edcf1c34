package warc

import (
	"net/http"
	"time"

	"indexer/page"
)

// Exchange is the response of an exchange as it was recorded.
type Exchange struct {
	URL     page.URL
	Date    time.Time // when the request began
	Remote  string    // the server's address, "" if it is not known
	Status  int
	Block   []byte // header and payload as received
	Payload []byte // the part of Block that the payload digest is of
	Request string // the id of the request's record, "" if there is none
}

// WriteResponse writes an exchange's response as it was received. A 304 is a revisit
// record (IIPC revisit profile server-not-modified). It returns where in the file
// the record begins and ends.
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

// PayloadDigest is the digest of a payload as the writer labels it.
func PayloadDigest(payload []byte) string { return labelledSHA1(payload) }
