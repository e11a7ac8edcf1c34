package loader

import (
	"bytes"
	"cmp"
	"context"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Which of two fetches of a URL is in force depends only on the fetches: not on the order in
// which they come, nor on the settings that say what is stored of a fetch. The settings may
// have changed since the other fetch was loaded, and may change again.

// stored is what is stored of the fetch in force. It is empty if there is none.
type stored struct {
	stamp   schema.FetchStamp
	content []byte
}

func readInForce(ctx context.Context, tx *txn.Txn, row string) (now stored, err error) {
	if err := tx.Prefetch(ctx, row, schema.FetchTime, schema.FetchContent); err != nil {
		return now, err
	}
	stamp, err := tx.Get(ctx, row, schema.FetchTime)
	if err != nil || !stamp.Exists {
		return now, err
	}
	if now.stamp, err = schema.DecodeFetchStamp(stamp.Data); err != nil {
		return now, err
	}
	content, err := tx.Get(ctx, row, schema.FetchContent)
	now.content = content.Data
	return now, err
}

func (s stored) exists() bool { return s.content != nil }

// plain returns the content as it would be if all settings had been off.
func (s stored) plain() ([]byte, error) {
	f, sum, err := schema.DecodeContent(s.content)
	if err != nil {
		return nil, err
	}
	return schema.EncodeContent(f.Plain(), sum), nil
}

// compare implements semantics.md section 2: the later fetch decides, and of two at the same time,
// the one whose body has the greater SHA-256. The result is positive if p decides, negative if the
// stored fetch does, and zero if they are the same fetch, which may have been stored with other
// settings.
//
// Two fetches with the same time and body can still differ in status or headers (two redirects
// within a second). The contract does not cover this case. Then what they mean with all
// settings off decides (outcome, then target, as in package batch), and finally the bytes of
// status and headers.
func (p *prepared) compare(now stored) (int, error) {
	switch {
	case !now.exists(), p.stamp.Newer(now.stamp):
		return 1, nil
	case now.stamp.Newer(p.stamp):
		return -1, nil
	}
	content, err := now.plain()
	if err != nil || bytes.Equal(p.plain, content) {
		return 0, err
	}
	other, _, err := schema.DecodeContent(content)
	if err != nil {
		return 0, err
	}
	other.URL, other.Body = p.loaded.URL, p.loaded.Body // of equal SHA-256
	a, b := page.Interpret(p.loaded.Plain()), page.Interpret(&other)
	return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Target, b.Target), bytes.Compare(p.plain, content)), nil
}
