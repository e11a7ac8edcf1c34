// Package feed reads from one snapshot of a repository the records that package export
// writes. The two packages are separate so that formats know nothing about the store.
package feed

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Result says what was exported.
type Result struct {
	Documents int // number of records: documents, links, hosts, captures or pairs
	// Digest is "sha256:…" over all documents without ranks and times. The same fetches give
	// the same digest, whatever their order. It is "" for other tables.
	Digest string
	// TS is the timestamp of the exported state; snapshot.Moment{TS: …} exports it again.
	TS uint64
	// Unsettled counts the documents that were about to change or disappear at a moment of
	// the past. They are exported as the index had them, with what the repository knew at
	// that moment. There are none at a quiescent moment.
	Unsettled int
	// Captures counts the stored responses in a WACZ: pages, resources and redirects. Missing
	// counts the resources that are not stored, or are stored without their bodies.
	Captures, Missing int
}

// Options say what to export.
type Options struct {
	export.Choice
	Threshold float64                          // of similar pairs; 0: export.DefaultThreshold
	URLs      []page.URL                       // the pages of a WACZ, at most MaxPages
	Tell      func(format string, args ...any) // is called from time to time with the progress; may be nil
	snapshot.ClusterOptions
}

// Write writes a table in a format, as of the snapshot that tx reads. What does not fit
// into memory goes into unnamed files in the scratch directory. After an error of w or of
// the store, the output is incomplete.
func Write(ctx context.Context, db *txn.DB, tx *txn.Txn, opts Options, w io.Writer) (_ Result, err error) {
	e := &exporter{ctx: ctx, tx: tx, reader: snapshot.NewReader(db, tx), scratch: opts.Scratch, w: w, tell: opts.Tell, threshold: cmp.Or(opts.Threshold, export.DefaultThreshold)}
	defer e.reader.Close()
	if e.tell == nil {
		e.tell = func(string, ...any) {}
	}
	e.cluster = snapshot.NewCluster(ctx, e.reader, opts.ClusterOptions)
	defer func() { err = errors.Join(err, e.cluster.Close()) }()
	e.res.TS = tx.Start()
	if err := e.export(opts); err != nil {
		return e.res, fmt.Errorf("export: %w", err)
	}
	return e.res, nil
}

// exporter is one export.
type exporter struct {
	ctx     context.Context
	tx      *txn.Txn          // scans
	reader  *snapshot.Reader  // reads cells and documents
	cluster *snapshot.Cluster // of the current document
	inlinks *export.Sorter    // of the current document
	scratch string            // directory for temporary files
	w       io.Writer
	res     Result
	tell    func(format string, args ...any)

	threshold float64 // of similar pairs
}

func (e *exporter) export(opts Options) error {
	switch c := opts.Choice; c {
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
	case export.Choice{Format: export.FormatSimilar, Table: export.Pairs}:
		return e.similar()
	case export.Choice{Format: export.FormatWACZ, Table: export.Pages}:
		return e.archive(opts.URLs)
	}
	return fmt.Errorf("%s of %s: there is no such export", opts.Format, opts.Table)
}

// documents writes all documents to a sink, and sets the digest.
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

// scan reads all rows of a group.
func (e *exporter) scan(group string, fn func(row string, cols []txn.Version) error) error {
	rows := 0
	return e.tx.Scan(e.ctx, group, "", "", func(row string, cols []txn.Version) error {
		rows++
		e.tell("%d rows of %s read", rows, group)
		return fn(row, cols)
	})
}

// eachDocument calls fn for all clusters in the index, sorted by canonical URL.
func (e *exporter) eachDocument(fn func(url page.URL, key page.ContentKey) error) (err error) {
	order := export.NewSorter(e.scratch, 0)
	defer func() { err = errors.Join(err, order.Close()) }()
	total := 0
	err = e.scan(schema.GroupIndex, func(row string, cols []txn.Version) error {
		d, err := schema.DecodeIndexed(cols[0].Data)
		if err != nil {
			return err
		}
		total++
		return order.Add(append(append([]byte(d.URL), 0), row...)) // no URL contains a zero byte
	})
	if err != nil {
		return err
	}
	read := 0
	return order.Sorted(func(record []byte) error {
		e.tell("%d of %d documents read", read, total)
		read++
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

// text reads the cluster of a document, and the text of its canonical URL. It returns nil
// if the cluster has lost its canonical URL.
func (e *exporter) text(url page.URL, key page.ContentKey) (*schema.StoredText, error) {
	if err := e.cluster.Read(key); err != nil {
		return nil, err
	}
	if e.cluster.Canonical != url {
		e.res.Unsettled++
	}
	if e.cluster.Canonical == "" {
		return nil, nil
	}
	text, err := observers.TextOf(e.ctx, e.reader.Document(), e.cluster.Canonical)
	return &text, err
}

// inlinkMemory is the size of the buffer of a document's inlinks, in bytes.
const inlinkMemory = 8 << 20

// document returns a document with all its members and inlinks, valid until the next call.
// It returns nil if the cluster has lost its canonical URL.
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
		MembersTotal: e.cluster.Count, EachMember: e.cluster.EachMember, EachInlink: e.eachInlink,
	}
	if d.FetchedAt, err = observers.FetchedAt(e.ctx, e.reader.Document(), e.cluster.Canonical); err != nil {
		return nil, err
	}
	d.InlinksTotal, err = e.sortInlinks()
	return d, err
}

// sortInlinks sorts the inlinks in the order in which documents list them. A record is
// source, target and anchor, separated by zero bytes, which no URL contains.
func (e *exporter) sortInlinks() (n int, err error) {
	if err := e.inlinks.Reset(); err != nil {
		return 0, err
	}
	var record []byte
	err = e.cluster.EachLinkRow("", func(l *snapshot.LinkRow) error {
		source, err := l.Source()
		if err != nil {
			return err
		}
		for _, anchor := range l.Anchors {
			n++
			record = append(append(record[:0], source...), 0)
			record = append(append(append(record, l.Target...), 0), anchor...)
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
