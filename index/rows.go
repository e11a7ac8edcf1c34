package index

import (
	"bytes"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/search"
)

// insert adds the document of a cluster that has none.
func (t *tables) insert(p *prepared) error {
	p.makeBody(t.vocabulary)
	d := p.Doc
	id, err := t.newID()
	if err != nil {
		return err
	}
	err = t.exec(`INSERT INTO docs(id, cluster, seq, url, hash, language, title, inlinks, members_total, members, anchors, headings, outline, head, rest, digest, row)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		id, p.Cluster[:], int64(p.Seq), string(d.URL), p.hash[:], d.Language, d.Title, d.Inlinks, d.MembersTotal, p.members, p.anchors, p.body.headings, p.body.outline, p.body.head, p.body.rest,
		d.Digest[:], p.rowSum())
	if err != nil {
		return err
	}
	t.added(p.Cluster[:], d.Digest[:])
	if err := t.exec("DELETE FROM tombstones WHERE cluster=?", p.Cluster[:]); err != nil {
		return err
	}
	if err := t.exec("INSERT INTO ranks(id, rank, seq) VALUES(?,?,?)", id, d.Rank, int64(p.Seq)); err != nil {
		return err
	}
	if err := t.exec("INSERT INTO times(id, fetched) VALUES(?,?)", id, packTime(d.FetchedAt)); err != nil {
		return err
	}
	if len(p.Thumbnail) > 0 {
		if err := t.putThumbnail(id, p.Thumbnail); err != nil {
			return err
		}
	}
	t.addedRow(id)
	return t.indexText(id, p)
}

// replace renews a cluster's document. It leaves the text and its index entries alone if
// they would be the same.
func (t *tables) replace(p *prepared, own stored) error {
	d := p.Doc
	seq := int64(p.Seq)
	// If the hash is the same, so is everything else that the row's checksum covers.
	err := t.exec("UPDATE docs SET seq=?, inlinks=?, members_total=?, members=?, anchors=?, digest=?, row=? WHERE id=?",
		seq, d.Inlinks, d.MembersTotal, p.members, p.anchors, d.Digest[:], p.rowSum(), own.id)
	if err != nil {
		return err
	}
	t.removed(p.Cluster[:], own.digest)
	t.added(p.Cluster[:], d.Digest[:])
	if err := t.exec("UPDATE ranks SET rank=?, seq=? WHERE id=? AND seq<?", d.Rank, seq, own.id, seq); err != nil {
		return err
	}
	fetched := "UPDATE times SET fetched=max(fetched, ?) WHERE id=?"
	if own.url != string(d.URL) {
		fetched = "UPDATE times SET fetched=? WHERE id=?" // the stored time is that of another page
	}
	if err := t.exec(fetched, packTime(d.FetchedAt), own.id); err != nil {
		return err
	}
	if err := t.putThumbnail(own.id, p.Thumbnail); err != nil {
		return err
	}
	if bytes.Equal(own.hash, p.hash[:]) {
		return nil
	}
	p.makeBody(t.vocabulary)
	if err := t.uncount(own.id); err != nil { // under its old URL
		return err
	}
	err = t.exec("UPDATE docs SET url=?, hash=?, language=?, title=?, headings=?, outline=?, head=?, rest=? WHERE id=?",
		string(d.URL), p.hash[:], d.Language, d.Title, p.body.headings, p.body.outline, p.body.head, p.body.rest, own.id)
	if err != nil {
		return err
	}
	return t.indexText(own.id, p)
}

// indexText replaces the full-text entry of a document, and its sketch.
func (t *tables) indexText(id int64, p *prepared) error {
	if err := t.addStemmer(analysis.StemmerFor(p.Doc.Language)); err != nil {
		return err
	}
	t.repeats.add(search.HostOf(p.Doc.URL), p.body.sample, 1)
	if err := t.putSketch(id, p.body); err != nil {
		return err
	}
	t.fullText[id] = &p.body.columns
	return t.addWords(&p.body.spelled)
}
