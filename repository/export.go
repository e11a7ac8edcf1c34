package repository

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"indexer/observers"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// ExportedDocument is a line of `export --format jsonl`.
type ExportedDocument struct {
	URL        page.URL           `json:"url"`
	Title      string             `json:"title"`
	Text       string             `json:"text"`
	Language   string             `json:"language"`
	Rank       float64            `json:"rank"`
	Members    []page.URL         `json:"members"`
	ContentKey string             `json:"content_key"`
	FetchedAt  time.Time          `json:"fetched_at"`
	Inlinks    []observers.Inlink `json:"inlinks"`
}

// ExportResult says what was exported.
type ExportResult struct {
	Documents int
	// Digest is "sha256:…" over all lines but ranks and times: the same fetches
	// give the same digest, in whichever order they came.
	Digest string
}

// Export writes all index documents as JSON, one a line, sorted by URL, as of a
// moment at which nothing was left to do.
func (r *Repository) Export(ctx context.Context, w io.Writer) (ExportResult, error) {
	q, err := r.Quiet(ctx)
	if err != nil {
		return ExportResult{}, err
	}
	res, err := export(ctx, q.Tx, w)
	return res, cmp.Or(err, q.Close())
}

func export(ctx context.Context, tx *txn.Txn, w io.Writer) (ExportResult, error) {
	docs, err := indexedClusters(ctx, tx)
	if err != nil {
		return ExportResult{}, err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	sum := sha256.New()
	for _, d := range docs {
		doc, err := exported(ctx, tx, d.key)
		if err != nil {
			return ExportResult{}, fmt.Errorf("export %s: %w", d.url, err)
		}
		if err := writeLine(out, sum, doc); err != nil {
			return ExportResult{}, fmt.Errorf("export %s: %w", d.url, err)
		}
	}
	if err := out.Flush(); err != nil {
		return ExportResult{}, fmt.Errorf("export: %w", err)
	}
	return ExportResult{Documents: len(docs), Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil))}, nil
}

type indexedCluster struct {
	url page.URL
	key page.ContentKey
}

// indexedClusters lists the clusters that are in the index, by canonical URL.
func indexedClusters(ctx context.Context, tx *txn.Txn) ([]indexedCluster, error) {
	var list []indexedCluster
	err := tx.Scan(ctx, schema.GroupIndex, "", "", func(row string, cols []txn.Version) error {
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		d, err := schema.DecodeIndexed(cols[0].Data)
		list = append(list, indexedCluster{d.URL, key})
		return err
	})
	slices.SortFunc(list, func(a, b indexedCluster) int { return cmp.Compare(a.url, b.url) })
	return list, err
}

// exported assembles a document with all its inlinks.
func exported(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*ExportedDocument, error) {
	a, err := observers.Assemble(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	d := &ExportedDocument{
		URL: a.Canonical, Title: a.Text.Title, Text: a.Text.Text, Language: a.Text.Language, Rank: a.Rank,
		Members: a.Members, ContentKey: hex.EncodeToString(key[:]), FetchedAt: a.FetchedAt, Inlinks: []observers.Inlink{},
	}
	err = observers.VisitInlinks(ctx, tx, a.Members, func(l observers.Inlink) error {
		d.Inlinks = append(d.Inlinks, l)
		return nil
	})
	slices.SortFunc(d.Inlinks, func(x, y observers.Inlink) int {
		return cmp.Or(cmp.Compare(x.Source, y.Source), cmp.Compare(x.Target, y.Target), cmp.Compare(x.Anchor, y.Anchor))
	})
	return d, err
}

// writeLine writes a document to out, and all of it but rank and time to sum.
func writeLine(out io.Writer, sum hash.Hash, d *ExportedDocument) error {
	if err := encodeLine(out, d); err != nil {
		return err
	}
	timeless := *d
	timeless.Rank, timeless.FetchedAt = 0, time.Time{}
	return encodeLine(sum, &timeless)
}

func encodeLine(w io.Writer, d *ExportedDocument) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(d)
}
