package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/page"
)

// A document may have a thumbnail: a small picture of the page under its canonical URL, as the
// browser encoded it. The index files have it, so that a program that has only the files can
// show it.
//
// A thumbnail is a separate row, written and deleted in the transaction that writes or deletes
// the document. So a crash leaves both or neither, a deleted document takes its picture along,
// and the new files of a rebuild have exactly the pictures of their documents.
//
// Rejected: a file for each picture in the directory of the index. Files and documents would have
// to be written in some order. Each order can leave garbage after a crash, and finding it means
// searching 100,000 files. A rebuild, a shard that moves, and a copy of the index would each have
// to take the files along.
//
// Thumbnails are like ranks and times: the digest of a document does not cover them.
const thumbnailsSQL = `
CREATE TABLE thumbnails(
  id    INTEGER PRIMARY KEY,
  sum   BLOB NOT NULL,          -- SumThumbnail of the image
  image BLOB NOT NULL
);
`

// ThumbnailSum identifies a thumbnail; it is zero for none.
type ThumbnailSum [8]byte

// SumThumbnail returns the sum of a thumbnail.
func SumThumbnail(image []byte) (s ThumbnailSum) {
	if len(image) > 0 {
		sum := sha256.Sum256(image)
		copy(s[:], sum[:])
	}
	return s
}

// putThumbnail stores a document's thumbnail, or removes it. It writes nothing if the
// thumbnail is the same, as in most exports of a document.
func (t *tables) putThumbnail(id int64, image []byte) error {
	if len(image) == 0 {
		return t.exec("DELETE FROM thumbnails WHERE id=?", id)
	}
	var stored []byte
	sum := SumThumbnail(image)
	found, err := t.row("SELECT sum FROM thumbnails WHERE id=?", []any{id}, &stored)
	if err != nil || found && bytes.Equal(stored, sum[:]) {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO thumbnails(id, sum, image) VALUES(?,?,?)", id, sum[:], image)
}

// Thumbnail returns the thumbnail of the document with this canonical URL, or nil if there is none.
func (v *View) Thumbnail(ctx context.Context, u page.URL) ([]byte, error) {
	var image, sum []byte
	err := v.tx.QueryRowContext(ctx, "SELECT t.image, t.sum FROM docs d JOIN thumbnails t ON t.id=d.id WHERE d.url=?", string(u)).Scan(&image, &sum)
	switch want := SumThumbnail(image); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err == nil && !bytes.Equal(sum, want[:]):
		err = fmt.Errorf("%w: thumbnail of %s", ErrCorrupt, u)
	}
	if err != nil {
		return nil, v.explain("thumbnail", err)
	}
	return image, nil
}

// Pictured returns those of the given canonical URLs whose documents have thumbnails.
func (v *View) Pictured(ctx context.Context, urls []page.URL) (pictured []page.URL, err error) {
	var n int
	if err := v.tx.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM thumbnails)").Scan(&n); err != nil || n == 0 {
		return nil, v.explain("thumbnails", err)
	}
	for _, u := range urls {
		const query = "SELECT EXISTS(SELECT 1 FROM docs d JOIN thumbnails t ON t.id=d.id WHERE d.url=?)"
		if err := v.tx.QueryRowContext(ctx, query, string(u)).Scan(&n); err != nil {
			return nil, v.explain("thumbnails", err)
		}
		if n > 0 {
			pictured = append(pictured, u)
		}
	}
	return pictured, nil
}

// Thumbnail is [View.Thumbnail] on the newest state.
func (r *Reader) Thumbnail(ctx context.Context, u page.URL) ([]byte, error) {
	return inView(ctx, r, func(v *View) ([]byte, error) { return v.Thumbnail(ctx, u) })
}

// Pictured is [View.Pictured] on the newest state.
func (r *Reader) Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error) {
	return inView(ctx, r, func(v *View) ([]page.URL, error) { return v.Pictured(ctx, urls) })
}

// checkThumbnails compares all thumbnails with their sums.
func (v *View) checkThumbnails(ctx context.Context) error {
	damaged := 0
	rows, err := v.tx.QueryContext(ctx, "SELECT sum, image FROM thumbnails")
	err = eachRow(rows, err, func() error {
		var sum, image sql.RawBytes
		err := rows.Scan(&sum, &image)
		if want := SumThumbnail(image); !bytes.Equal(sum, want[:]) {
			damaged++
		}
		return err
	})
	if err == nil && damaged > 0 {
		err = fmt.Errorf("%d thumbnails are not those that were written", damaged)
	}
	return err
}
