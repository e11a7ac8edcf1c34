package opensearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/webindexer/indexer/index"
)

// write is one record of a bulk request.
type write struct {
	id      string
	version int64
	line    []byte // the record, in JSON
}

func newWrite(id string, version int64, r *record) (write, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return write{}, fmt.Errorf("%w: record %s: %w", index.ErrInvalid, id, err)
	}
	return write{id, version, line}, nil
}

// Bounds of a bulk request. The server refuses requests of more than 100 MB.
const (
	bulkBytes   = 8 << 20
	bulkRecords = 1000
)

// put writes records to an index, in requests of bounded size. It returns when the server
// has flushed them (index.translog.durability is request, the server's default).
func (c *client) put(ctx context.Context, target string, list []write) error {
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < bulkRecords && (n == 0 || size+len(list[n].line) <= bulkBytes) {
			size += len(list[n].line)
			n++
		}
		if err := c.putSome(ctx, target, list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// putSome sends one bulk request, and sends again the records for which the server was
// too busy. If the connection breaks, it is unknown which records were written. putSome
// sends them again, and versions make that harmless.
func (c *client) putSome(ctx context.Context, target string, list []write) error {
	left := slices.Clone(list)
	return c.retry(ctx, func() error {
		var answer bulkAnswer
		if err := c.once(ctx, http.MethodPost, "/"+target+"/_bulk?require_alias=true", bulkBody(left), &answer); err != nil {
			return err
		}
		if len(answer.Items) != len(left) {
			return unavailable{fmt.Errorf("OpenSearch answered about %d of %d records", len(answer.Items), len(left))}
		}
		var again []write
		var why error // of the last of them
		for i, item := range answer.Items {
			busy, err := item.result(left[i].id)
			switch {
			case busy:
				again, why = append(again, left[i]), err
			case err != nil:
				return err
			}
		}
		left = again
		return why
	})
}

func bulkBody(list []write) []byte {
	var b bytes.Buffer
	for i := range list {
		fmt.Fprintf(&b, `{"index":{"_id":"%s","version":%d,"version_type":"external"}}`+"\n", list[i].id, list[i].version)
		b.Write(list[i].line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

type bulkAnswer struct {
	Items []bulkItem `json:"items"`
}

type bulkItem struct {
	Index struct {
		Status int
		Error  struct{ Type, Reason string }
	}
}

// result returns the outcome of a record: written, or a version at least as new was
// already there; not written because the server is busy, and why; or a permanent error.
func (i *bulkItem) result(id string) (busy bool, err error) {
	e := &statusError{status: i.Index.Status, kind: i.Index.Error.Type, reason: i.Index.Error.Reason}
	switch {
	case e.status == 0:
		return false, unavailable{fmt.Errorf("OpenSearch did not say what became of record %s", id)}
	case e.status < 300 || e.status == http.StatusConflict:
		return false, nil
	case e.isTemporary():
		return true, e
	case e.status == http.StatusNotFound || e.status == http.StatusForbidden:
		return false, unusable(e)
	}
	return false, fmt.Errorf("record %s: %w", id, e)
}

// unusable marks an error that every record will get: the index was removed, or made
// read-only, for example because the server's disk is full.
func unusable(e error) error {
	return fmt.Errorf("%w: %w; if it was removed, `indexer reindex` builds it again", index.ErrUnusable, e)
}

// asUnusable marks the error of a request that did not find the index.
func asUnusable(err error) error {
	if isNotFound(err) && !errors.Is(err, index.ErrUnusable) {
		return unusable(err)
	}
	return err
}
