package repository

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"indexer/export"
	"indexer/observers"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// ExportedDocument is a line of `export --format jsonl`.
type ExportedDocument = export.Document

// ExportOptions say what to export. The zero Moment is a moment, about now, at which
// nothing was left to do: Export waits for it.
type ExportOptions struct {
	export.Choice
	At Moment
}

// ExportResult says what was exported.
type ExportResult struct {
	Documents int // records: documents, links, hosts or captures
	// Digest is "sha256:…" over all documents but ranks and times: the same fetches
	// give the same digest, in whichever order they came. "" of what is not documents.
	Digest string
	// TS is the timestamp whose state was exported: Moment{TS: …} exports it again.
	TS uint64
	// Unsettled documents were about to change or to go at a moment of the past: they
	// stand as the index had them, with what the repository knew. None at a moment at
	// which nothing was left to do.
	Unsettled int
}

// Export writes all index documents as JSON, one a line, sorted by URL, as of a
// moment at which nothing was left to do.
func (r *Repository) Export(ctx context.Context, w io.Writer) (ExportResult, error) {
	return r.ExportAs(ctx, ExportOptions{Choice: export.Choice{Format: export.FormatJSONL, Table: export.Documents}}, w)
}

// ExportAs writes a table in a format. What does not fit into memory lies in the data
// directory meanwhile, in files without a name. Errors: those of past, of w, of the
// store; what w has got then is not complete.
func (r *Repository) ExportAs(ctx context.Context, opts ExportOptions, w io.Writer) (res ExportResult, err error) {
	var tx *txn.Txn
	if opts.At.IsNow() {
		q, err := r.Quiet(ctx)
		if err != nil {
			return ExportResult{}, err
		}
		defer func() { err = errors.Join(err, q.Close()) }()
		tx = q.Tx
	} else {
		if tx, err = r.past(ctx, opts.At); err != nil {
			return ExportResult{}, err
		}
		defer tx.Rollback()
	}
	e := &exporter{ctx: ctx, tx: tx, reading: newReading(r.db, tx), scratch: r.dir, w: w}
	defer e.reading.close()
	e.res.TS = tx.Start()
	if err := e.export(opts.Choice); err != nil {
		return e.res, fmt.Errorf("export: %w", err)
	}
	return e.res, nil
}

// exporter is one export.
type exporter struct {
	ctx     context.Context
	tx      *txn.Txn // scans
	reading *reading // reads documents
	scratch string   // directory
	w       io.Writer
	res     ExportResult
}

func (e *exporter) export(c export.Choice) error {
	switch c {
	case export.Choice{Format: export.FormatJSONL, Table: export.Documents}:
		return e.documents(export.NewJSONL[export.Document](e.w))
	case export.Choice{Format: export.FormatJSONL, Table: export.Links}:
		return e.links(export.NewJSONL[export.Link](e.w))
	case export.Choice{Format: export.FormatParquet, Table: export.Documents}:
		return e.documents(export.NewParquetDocuments(e.w))
	case export.Choice{Format: export.FormatParquet, Table: export.Links}:
		return e.links(export.NewParquetLinks(e.w))
	case export.Choice{Format: export.FormatRanks, Table: export.Hosts}:
		return e.hosts()
	case export.Choice{Format: export.FormatCDXJ, Table: export.Captures}:
		return e.captures()
	case export.Choice{Format: export.FormatCIFF, Table: export.Documents}:
		return e.invertedIndex()
	}
	return fmt.Errorf("%s of %s: there is no such export", c.Format, c.Table)
}

// documents writes the documents to a sink, and their digest to the result.
func (e *exporter) documents(out export.Sink[export.Document]) error {
	sum := sha256.New()
	err := e.eachDocument(func(tx *txn.Txn, url page.URL, key page.ContentKey) error {
		d, err := e.document(tx, url, key)
		if err != nil || d == nil {
			return err
		}
		e.res.Documents++
		return cmp.Or(out.Write(d), digestLine(sum, d))
	})
	if err != nil {
		return err
	}
	e.res.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	return out.Close()
}

// eachDocument calls fn for the clusters that are in the index, by canonical URL.
func (e *exporter) eachDocument(fn func(tx *txn.Txn, url page.URL, key page.ContentKey) error) (err error) {
	order := export.NewSorter(e.scratch, 0)
	defer func() { err = errors.Join(err, order.Close()) }()
	err = e.tx.Scan(e.ctx, schema.GroupIndex, "", "", func(row string, cols []txn.Version) error {
		d, err := schema.DecodeIndexed(cols[0].Data)
		if err != nil {
			return err
		}
		return order.Add(append(append([]byte(d.URL), 0), row...)) // no URL has a zero byte
	})
	if err != nil {
		return err
	}
	return order.Sorted(func(record []byte) error {
		url, row, _ := bytes.Cut(record, []byte{0})
		key, err := schema.ParseClusterRow(string(row))
		if err == nil {
			err = fn(e.reading.next(), page.URL(url), key)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		return nil
	})
}

// document assembles a document with all its inlinks; nil if there was none any more.
func (e *exporter) document(tx *txn.Txn, url page.URL, key page.ContentKey) (*export.Document, error) {
	a, err := observers.Assemble(e.ctx, tx, key)
	if err != nil {
		return nil, err
	}
	if a.Canonical != url {
		e.res.Unsettled++
	}
	if a.Canonical == "" {
		return nil, nil
	}
	d := &export.Document{
		URL: url, Title: a.Text.Title, Text: a.Text.Text, Language: a.Text.Language, Rank: a.Rank,
		Members: a.Members, ContentKey: hex.EncodeToString(key[:]), FetchedAt: a.FetchedAt, Inlinks: []export.Link{},
	}
	err = observers.VisitInlinks(e.ctx, tx, a.Members, func(l observers.Inlink) error {
		d.Inlinks = append(d.Inlinks, export.Link(l))
		return nil
	})
	slices.SortFunc(d.Inlinks, func(x, y export.Link) int {
		return cmp.Or(cmp.Compare(x.Source, y.Source), cmp.Compare(x.Target, y.Target), cmp.Compare(x.Anchor, y.Anchor))
	})
	return d, err
}

// digestLine writes all of a document but rank and time to sum.
func digestLine(sum hash.Hash, d *export.Document) error {
	timeless := *d
	timeless.Rank, timeless.FetchedAt = 0, time.Time{}
	enc := json.NewEncoder(sum)
	enc.SetEscapeHTML(false)
	return enc.Encode(&timeless)
}
