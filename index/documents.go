package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/webindexer/indexer/page"
)

const selectDocument = `SELECT ` + rowColumns + `, d.outline, d.head, d.rest, t.fetched, r.rank
	FROM docs d JOIN times t ON t.id=d.id JOIN ranks r ON r.id=d.id `

// Documents calls fn with every stored document, in the byte order of URLs, until
// fn returns an error, which it returns.
func (v *View) Documents(ctx context.Context, fn func(Document) error) (err error) {
	rows, err := v.tx.QueryContext(ctx, selectDocument+"ORDER BY d.url")
	if err != nil {
		return v.explain("documents", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		d, err := scanDocument(rows)
		if err != nil {
			return v.explain("documents", err)
		}
		if err := fn(d); err != nil {
			return err
		}
	}
	return v.explain("documents", rows.Err())
}

// Document returns the document with this canonical URL, if there is one.
func (v *View) Document(ctx context.Context, url string) (Document, bool, error) {
	d, err := scanDocument(v.tx.QueryRowContext(ctx, selectDocument+"WHERE d.url=?", url))
	if errors.Is(err, sql.ErrNoRows) {
		return Document{}, false, nil
	}
	if err != nil {
		return Document{}, false, v.explain("document", err)
	}
	return d, true, nil
}

func scanDocument(row interface{ Scan(...any) error }) (d Document, err error) {
	var s storedRow
	var outline, head, rest []byte
	var fetched int64
	if err := s.scan(row.Scan, &outline, &head, &rest, &fetched, &d.Rank); err != nil {
		return d, err
	}
	d.Cluster, d.Seq, d.FetchedAt = page.ContentKey(s.cluster), uint64(s.seq), unpackTime(fetched)
	d.URL, d.Title, d.Language = page.URL(s.url), string(s.title), string(s.language)
	d.Inlinks, d.MembersTotal, d.Digest = int(s.inlinks), int(s.membersTotal), [8]byte(s.digest)
	if d.Text, err = unpack(head, rest); err != nil {
		return d, fmt.Errorf("%s: %w", d.URL, err)
	}
	if d.Outline, err = unpack(outline); err != nil {
		return d, fmt.Errorf("%s: outline: %w", d.URL, err)
	}
	if err := errors.Join(fromJSON(s.members, &d.Members), fromJSON(s.anchors, &d.Anchors)); err != nil {
		return d, fmt.Errorf("%s: %w", d.URL, err)
	}
	if hashText(&d) != textHash(s.hash) {
		return d, fmt.Errorf("%w: %s: its text is not the one that was stored", ErrCorrupt, d.URL)
	}
	return d, nil
}

// scan scans the columns of rowColumns, and then others. It rejects a row whose checksum
// does not match.
func (r *storedRow) scan(scan func(...any) error, others ...any) error {
	var sum int64
	columns := []any{&r.cluster, &r.seq, &r.url, &r.hash, &r.language, &r.title, &r.inlinks, &r.membersTotal, &r.members, &r.anchors, &r.digest, &sum}
	if err := scan(append(columns, others...)...); err != nil {
		return err
	}
	if r.sum() != sum || len(r.cluster) != len(page.ContentKey{}) || len(r.hash) != len(textHash{}) || len(r.digest) != 8 {
		return fmt.Errorf("%w: %q: its row does not match its checksum", ErrCorrupt, r.url)
	}
	return nil
}

// fromJSON reads a list that jsonList wrote; an empty one gives nil.
func fromJSON[T any](data []byte, list *[]T) error {
	if string(data) == "[]" {
		return nil
	}
	if err := json.Unmarshal(data, list); err != nil {
		return fmt.Errorf("%w: stored list: %w", ErrCorrupt, err)
	}
	return nil
}

// Entry is a document without its content.
type Entry struct {
	Cluster   page.ContentKey
	Digest    [8]byte
	URL       page.URL
	Rank      float64
	FetchedAt time.Time
	Thumbnail ThumbnailSum
}

// Digest returns the digest of a cluster's document.
func (v *View) Digest(ctx context.Context, cluster page.ContentKey) (digest [8]byte, found bool, err error) {
	var b []byte
	err = v.tx.QueryRowContext(ctx, "SELECT digest FROM docs WHERE cluster=?", cluster[:]).Scan(&b)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return digest, false, nil
	case err == nil && len(b) != len(digest):
		err = fmt.Errorf("%w: digest of cluster %x", ErrCorrupt, cluster[:6])
	}
	if err != nil {
		return digest, false, v.explain("digest", err)
	}
	return [8]byte(b), true, nil
}

// Entries lists all documents, by cluster. It stops at the first error.
func (v *View) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := v.entries(ctx, func(e Entry) bool { return yield(e, nil) })
		if err != nil {
			yield(Entry{}, v.explain("entries", err))
		}
	}
}

func (v *View) entries(ctx context.Context, yield func(Entry) bool) (err error) {
	rows, err := v.tx.QueryContext(ctx, "SELECT d.cluster, d.digest, d.url, t.fetched, r.rank, p.sum FROM docs d JOIN times t ON t.id=d.id JOIN ranks r ON r.id=d.id LEFT JOIN thumbnails p ON p.id=d.id ORDER BY d.cluster")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e Entry
		var cluster, digest, picture sql.RawBytes
		var fetched int64
		if err := rows.Scan(&cluster, &digest, &e.URL, &fetched, &e.Rank, &picture); err != nil {
			return err
		}
		if len(cluster) != len(e.Cluster) || len(digest) != len(e.Digest) {
			return fmt.Errorf("%w: %s: content key or digest", ErrCorrupt, e.URL)
		}
		copy(e.Thumbnail[:], picture)
		e.Cluster, e.Digest, e.FetchedAt = page.ContentKey(cluster), [8]byte(digest), unpackTime(fetched)
		if !yield(e) {
			return nil
		}
	}
	return rows.Err()
}
