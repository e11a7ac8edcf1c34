package repository

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

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
	// Total is how many documents there are to write; 0 while it is not known, and of what
	// is not documents.
	Total int
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
// directory meanwhile, in files without a name. Errors: those of Past, of w, of the
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
		if tx, err = r.Past(ctx, opts.At); err != nil {
			return ExportResult{}, err
		}
		defer tx.Rollback()
	}
	e := &exporter{ctx: ctx, tx: tx, reading: newReading(r.db, tx), scratch: r.dir, w: w}
	defer e.reading.close()
	e.cluster = newCluster(ctx, e.reading, r.dir)
	defer func() { err = errors.Join(err, e.cluster.close()) }()
	e.res.TS = tx.Start()
	if err := e.export(opts.Choice); err != nil {
		return e.res, fmt.Errorf("export: %w", err)
	}
	return e.res, nil
}

// exporter is one export.
type exporter struct {
	ctx     context.Context
	tx      *txn.Txn       // scans
	reading *reading       // reads documents
	cluster *cluster       // of the document that is being read
	inlinks *export.Sorter // of it
	scratch string         // directory
	w       io.Writer
	res     ExportResult
}

func (e *exporter) export(c export.Choice) error {
	switch c {
	case export.Choice{Format: export.FormatJSONL, Table: export.Documents}:
		return e.documents(export.NewJSONLDocuments(e.w))
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
func (e *exporter) documents(out export.Sink[export.LongDocument]) (err error) {
	sum := sha256.New()
	digest := export.NewDigestLines(sum)
	e.inlinks = export.NewSorter(e.scratch, inlinkMemory)
	defer func() { err = errors.Join(err, e.inlinks.Close()) }()
	err = e.eachDocument(func(url page.URL, key page.ContentKey) error {
		d, err := e.document(url, key)
		if err != nil || d == nil {
			return err
		}
		e.res.Documents++
		if err := out.Write(d); err != nil {
			return err
		}
		return digest.Write(d)
	})
	if err := cmp.Or(err, digest.Close()); err != nil {
		return err
	}
	e.res.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	return out.Close()
}

// eachDocument calls fn for the clusters that are in the index, by canonical URL.
func (e *exporter) eachDocument(fn func(url page.URL, key page.ContentKey) error) (err error) {
	order := export.NewSorter(e.scratch, 0)
	defer func() { err = errors.Join(err, order.Close()) }()
	err = e.tx.Scan(e.ctx, schema.GroupIndex, "", "", func(row string, cols []txn.Version) error {
		d, err := schema.DecodeIndexed(cols[0].Data)
		if err != nil {
			return err
		}
		e.res.Total++
		return order.Add(append(append([]byte(d.URL), 0), row...)) // no URL has a zero byte
	})
	if err != nil {
		return err
	}
	return order.Sorted(func(record []byte) error {
		url, row, _ := bytes.Cut(record, []byte{0})
		key, err := schema.ParseClusterRow(string(row))
		if err == nil {
			err = fn(page.URL(url), key)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		return nil
	})
}

// text reads the cluster of a document, and what its canonical URL says; nil if there was
// none any more.
func (e *exporter) text(url page.URL, key page.ContentKey) (*schema.StoredText, error) {
	if err := e.cluster.read(key); err != nil {
		return nil, err
	}
	if e.cluster.Canonical != url {
		e.res.Unsettled++
	}
	if e.cluster.Canonical == "" {
		return nil, nil
	}
	text, err := observers.TextOf(e.ctx, e.reading.next(), e.cluster.Canonical)
	return &text, err
}

// inlinkMemory is what of the inlinks of a document is in memory, in bytes.
const inlinkMemory = 8 << 20

// document is a document with all its members and inlinks, valid until the next one; nil
// if there was none any more.
func (e *exporter) document(url page.URL, key page.ContentKey) (*export.LongDocument, error) {
	text, err := e.text(url, key)
	if err != nil || text == nil {
		return nil, err
	}
	d := &export.LongDocument{
		Document: export.Document{
			URL: url, Title: text.Title, Text: text.Text, Language: text.Language,
			Rank: e.cluster.Rank, ContentKey: hex.EncodeToString(key[:]),
		},
		MembersTotal: e.cluster.Count, EachMember: e.cluster.eachMember, EachInlink: e.eachInlink,
	}
	if d.FetchedAt, err = observers.FetchedAt(e.ctx, e.reading.next(), e.cluster.Canonical); err != nil {
		return nil, err
	}
	d.InlinksTotal, err = e.sortInlinks()
	return d, err
}

// sortInlinks brings the inlinks in the order of documents: source, target and anchor as
// one record, between zero bytes, which no URL has.
func (e *exporter) sortInlinks() (n int, err error) {
	if err := e.inlinks.Reset(); err != nil {
		return 0, err
	}
	var record []byte
	err = e.cluster.eachLinkRow("", func(l *linkRow) error {
		source, err := l.source()
		if err != nil {
			return err
		}
		for _, anchor := range l.anchors {
			n++
			record = append(append(record[:0], source...), 0)
			record = append(append(append(record, l.target...), 0), anchor...)
			if err := e.inlinks.Add(record); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

func (e *exporter) eachInlink(fn func(*export.Link) error) error {
	return e.inlinks.Sorted(func(record []byte) error {
		source, rest, _ := bytes.Cut(record, []byte{0})
		target, anchor, _ := bytes.Cut(rest, []byte{0})
		return fn(&export.Link{Source: page.URL(source), Target: page.URL(target), Anchor: string(anchor)})
	})
}
