package schema

import (
	"context"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/txn"
)

// InForce is the fetch in force of a URL (semantics.md section 2) as it is stored. Its time and its
// body are in separate cells: see ReadFetchStamp and ReadBody.
type InForce struct {
	page.Fetch
	Sum     [32]byte      // SHA-256 of the payload
	Content ContentDigest // of the cell FetchContent
}

// ReadInForce reads the fetch in force of a URL, without its body. It returns nil if there is none.
func ReadInForce(ctx context.Context, tx *txn.Txn, u page.URL) (*InForce, error) {
	content, err := tx.Get(ctx, URLRow(u), FetchContent)
	if err != nil || !content.Exists {
		return nil, err
	}
	f := &InForce{Content: DigestContent(content)}
	f.Fetch, f.Sum, err = DecodeContent(content.Data)
	f.URL = u
	return f, err
}

// ReadBody sets the body, and reports whether one is stored. The transaction does not remember it,
// because it may be large.
func (f *InForce) ReadBody(ctx context.Context, tx *txn.Txn) (stored bool, err error) {
	body, err := tx.GetOnce(ctx, URLRow(f.URL), Body)
	if err != nil || !body.Exists {
		return false, err
	}
	f.Body, err = DecodeBody(body.Data)
	return true, err
}

// ReadFetchStamp reads the stamp of the fetch in force of a URL, and reports whether there is one.
func ReadFetchStamp(ctx context.Context, tx *txn.Txn, u page.URL) (s FetchStamp, exists bool, err error) {
	v, err := tx.Get(ctx, URLRow(u), FetchTime)
	if err != nil || !v.Exists {
		return s, false, err
	}
	s, err = DecodeFetchStamp(v.Data)
	return s, true, err
}
