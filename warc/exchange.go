package warc

import (
	"net/http"
	"time"

	"indexer/page"
)

// WriteResponse writes an exchange as it was: the response's header and payload as
// received, and the request beside it. A 304 is a revisit record (IIPC revisit
// profile server-not-modified). payload is the part of block that the payload
// digest is of. It returns where in the file the response begins and ends.
func (w *Writer) WriteResponse(u page.URL, date time.Time, remote string, status int, block, payload []byte) (from, to int64, err error) {
	fields := Fields{
		{"WARC-Type", "response"},
		{"WARC-Date", formatDate(date)},
		{"WARC-Target-URI", string(u)},
		{"WARC-Payload-Digest", labelledSHA1(payload)},
		{"Content-Type", "application/http; msgtype=response"},
	}
	if status == http.StatusNotModified {
		fields[0].Value = "revisit"
		fields[3] = Field{"WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified"}
	}
	if remote != "" {
		fields = append(fields, Field{"WARC-IP-Address", remote})
	}
	from = w.Offset()
	_, err = w.Write(fields, block)
	return from, w.Offset(), err
}

// PayloadDigest is the digest of a payload as the writer labels it.
func PayloadDigest(payload []byte) string { return labelledSHA1(payload) }
