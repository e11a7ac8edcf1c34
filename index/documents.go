package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"indexer/page"
)

const selectDocument = `SELECT d.cluster, d.seq, d.url, d.title, d.language, d.inlinks, d.members_total, d.members, d.anchors, d.head, d.rest, t.fetched, r.rank
	FROM docs d JOIN times t ON t.id=d.id JOIN ranks r ON r.id=d.id `

// Documents calls fn with every stored document, in the byte order of URLs, until
// fn returns an error, which it returns.
func (v *View) Documents(ctx context.Context, fn func(Document) error) (err error) {
	rows, err := v.tx.QueryContext(ctx, selectDocument+"ORDER BY d.url")
	if err != nil {
		return fmt.Errorf("index %s: documents: %w", v.dir, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		d, err := scanDocument(rows)
		if err != nil {
			return fmt.Errorf("index %s: documents: %w", v.dir, err)
		}
		if err := fn(d); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("index %s: documents: %w", v.dir, err)
	}
	return nil
}

// Document is the document with this canonical URL, if there is one.
func (v *View) Document(ctx context.Context, url string) (Document, bool, error) {
	d, err := scanDocument(v.tx.QueryRowContext(ctx, selectDocument+"WHERE d.url=?", url))
	if errors.Is(err, sql.ErrNoRows) {
		return Document{}, false, nil
	}
	if err != nil {
		return Document{}, false, fmt.Errorf("index %s: document: %w", v.dir, err)
	}
	return d, true, nil
}

func scanDocument(row interface{ Scan(...any) error }) (Document, error) {
	var d Document
	var cluster, members, anchors, head, rest sql.RawBytes
	var seq, fetched int64
	scan := []any{&cluster, &seq, &d.URL, &d.Title, &d.Language, &d.Inlinks, &d.MembersTotal, &members, &anchors, &head, &rest, &fetched, &d.Rank}
	if _, single := row.(*sql.Row); single { // RawBytes are for Rows only
		scan[0], scan[7], scan[8], scan[9], scan[10] = (*[]byte)(&cluster), (*[]byte)(&members), (*[]byte)(&anchors), (*[]byte)(&head), (*[]byte)(&rest)
	}
	if err := row.Scan(scan...); err != nil {
		return d, err
	}
	if len(cluster) != len(page.ContentKey{}) {
		return d, fmt.Errorf("%w: %s: content key of %d bytes", ErrCorrupt, d.URL, len(cluster))
	}
	d.Cluster, d.Seq, d.FetchedAt = page.ContentKey(cluster), uint64(seq), unpackTime(fetched)
	var err error
	if d.Text, err = unpack(head, rest); err != nil {
		return d, fmt.Errorf("%s: %w", d.URL, err)
	}
	return d, errors.Join(fromJSON(members, &d.Members), fromJSON(anchors, &d.Anchors))
}

// fromJSON reads a list as jsonList wrote it; an empty one gives nil.
func fromJSON[T any](data []byte, list *[]T) error {
	if string(data) == "[]" {
		return nil
	}
	if err := json.Unmarshal(data, list); err != nil {
		return fmt.Errorf("%w: stored list: %w", ErrCorrupt, err)
	}
	return nil
}
