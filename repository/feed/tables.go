package feed

import (
	"errors"
	"mime"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// links writes all counting links in the order of their rows: by target, then by source,
// with the URLs of a site together.
func (e *exporter) links(out export.Sink[export.Link]) error {
	err := e.scan(schema.GroupLink, func(row string, cols []txn.Version) error {
		target, source, err := schema.ParsePairRow(row)
		if err != nil {
			return err
		}
		anchors, err := schema.AnchorsIn(cols)
		if err != nil {
			return err
		}
		for _, a := range anchors {
			e.res.Documents++
			if err := out.Write(&export.Link{Source: source, Target: target, Anchor: a}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err // without Close: an incomplete Parquet file must not look complete
	}
	return out.Close()
}

// captures writes the fetches in force as an index of an archive.
func (e *exporter) captures() (err error) {
	lines := export.NewSorter(e.scratch, 0)
	defer func() { err = errors.Join(err, lines.Close()) }()
	err = e.scan(schema.GroupFetch, func(row string, cols []txn.Version) error {
		c, err := captureOf(row, cols)
		if err != nil || c == nil {
			return err
		}
		line, err := export.CDXJLine(c)
		if err != nil {
			return err
		}
		return lines.Add(line)
	})
	if err != nil {
		return err
	}
	e.res.Documents, err = export.WriteCDXJ(e.w, lines)
	return err
}

// captureOf returns the fetch in force that a row stores, or nil if all fetches failed.
func captureOf(row string, cols []txn.Version) (*export.Capture, error) {
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return nil, err
	}
	c := &export.Capture{URL: u}
	stored := false
	for _, col := range cols {
		switch col.Name {
		case schema.FetchContent.Name:
			f, sum, err := schema.DecodeContent(col.Data)
			if err != nil {
				return nil, err
			}
			stored, c.Status, c.Sum = true, f.Status, sum
			if mediaType, _, err := mime.ParseMediaType(f.Header.Get("Content-Type")); err == nil {
				c.MIME = mediaType // an invalid header leaves the type unknown
			}
		case schema.FetchTime.Name:
			stamp, err := schema.DecodeFetchStamp(col.Data)
			if err != nil {
				return nil, err
			}
			c.Time = stamp.Time
		}
	}
	if !stored {
		return nil, nil
	}
	return c, nil
}

// invertedIndex writes the terms of the documents.
func (e *exporter) invertedIndex() (err error) {
	c, err := export.NewCIFF(e.scratch, 0, "indexer: title and text of canonical pages; words folded and, by language, stemmed; docids by URL")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	err = e.eachDocument(func(url page.URL, key page.ContentKey) error {
		text, err := e.text(url, key)
		if err != nil || text == nil {
			return err
		}
		e.res.Documents++
		return c.Add(string(url), analysis.Terms(text.Title, text.Text, text.Language))
	})
	if err != nil {
		return err
	}
	_, err = c.WriteTo(e.w)
	return err
}

// similar writes the pairs of documents whose main contents are similar. The sketches are
// like those of the index files, but made again from the texts of this moment.
func (e *exporter) similar() (err error) {
	pairs, err := export.NewSimilar(e.scratch, 0, e.threshold)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pairs.Close()) }()
	err = e.eachDocument(func(url page.URL, key page.ContentKey) error {
		text, err := e.text(url, key)
		if err != nil || text == nil {
			return err
		}
		outline, err := page.DecodeOutline(text.Outline, len(text.Text))
		if err != nil {
			return err
		}
		var b sketch.Builder
		analysis.MainWords(text.Text, outline.Main, func(word []byte) { b.Add(word) })
		s := b.Sketch()
		return pairs.Add(url, &s)
	})
	if err != nil {
		return err
	}
	e.res.Documents, err = pairs.WriteTo(e.ctx, e.w)
	return err
}
