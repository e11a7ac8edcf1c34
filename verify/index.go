package verify

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// compareIndexed compares which clusters are in the index and under which URL
// (invariant 4), and the kept sum over them.
func (v *verifier) compareIndexed(ctx context.Context) error {
	seen := make(map[page.ContentKey]bool)
	var sum index.State
	err := v.scan(ctx, schema.GroupIndex, func(row string, cols []txn.Version) error {
		v.rep.Checked["index_documents"]++
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		seen[key] = true
		stored, err := schema.DecodeIndexed(cols[0].Data)
		if err != nil {
			return fmt.Errorf("cluster %s: %w", short(key), err)
		}
		sum.Documents++
		sum.Sum.Add(key, stored.Sum)
		want := v.cluster(key)
		if want.Canonical == "" {
			v.rep.add(schema.GroupIndex, short(key), "canonical", string(stored.URL), "")
			return nil
		}
		v.rep.same(schema.GroupIndex, short(key), "canonical", string(stored.URL), string(want.Canonical))
		v.rep.same(schema.GroupIndex, short(key), "members", fmt.Sprint(stored.Members), fmt.Sprint(len(want.Members)))
		v.sameRank(schema.GroupIndex, short(key), "rank", stored.Rank, want.Rank)
		v.rep.same(schema.GroupIndex, short(key), "inlinks", fmt.Sprint(stored.Inlinks), fmt.Sprint(len(want.Inlinks)))
		return nil
	})
	for c := range v.batch.Index() {
		if !seen[c.Key] {
			v.rep.add(schema.GroupIndex, short(c.Key), "canonical", "", string(c.Canonical))
		}
	}
	if err != nil || v.db.Shared() { // there is no sum in a shared table
		return err
	}
	kept, ok, err := observers.ReadIndexSum(ctx, v.tx)
	if ok {
		v.rep.same(schema.GroupApp, "repository", schema.IndexSum.Name, sumText(kept), sumText(sum))
	}
	return err
}

func sumText(s index.State) string {
	return fmt.Sprintf("%d documents, sum %016x", s.Documents, uint64(s.Sum))
}

// cluster returns a computed cluster, or an empty one if there is none.
func (v *verifier) cluster(key page.ContentKey) *batch.Cluster {
	if c := v.batch.Cluster(key); c != nil {
		return c
	}
	return &batch.Cluster{}
}

const indexFiles = "index files"

// compareFiles compares the index files with the computed documents.
func (v *verifier) compareFiles(ctx context.Context, files repository.IndexView) error {
	seen := make(map[page.ContentKey]bool)
	err := files.Documents(ctx, func(d index.Document) error {
		v.rep.Checked["index_files"]++
		seen[d.Cluster] = true
		return v.compareFile(ctx, &d)
	})
	if err == nil && repository.KeepsThumbnails(files) {
		err = v.compareThumbnails(ctx, files)
	}
	part, divided := files.(interface{ Covers(page.ContentKey) bool })
	for c := range v.batch.Index() {
		if divided && !part.Covers(c.Key) { // in a shard on another machine
			continue
		}
		if !seen[c.Key] {
			v.rep.add(indexFiles, string(c.Canonical), "document", "", "cluster "+short(c.Key))
		}
	}
	return err
}

func (v *verifier) compareFile(ctx context.Context, d *index.Document) error {
	want := v.cluster(d.Cluster)
	if want.Canonical == "" {
		v.rep.add(indexFiles, string(d.URL), "document", "cluster "+short(d.Cluster), "")
		return nil
	}
	row := string(want.Canonical)
	v.rep.same(indexFiles, row, "url", string(d.URL), string(want.Canonical))
	if digestText(d.Title, d.Text, d.Language, d.Outline) != v.facts[want.Canonical].shown {
		doc, err := v.document(ctx, want.Canonical)
		if err != nil {
			return err
		}
		v.rep.same(indexFiles, row, "title", d.Title, doc.Title)
		v.rep.same(indexFiles, row, "text", d.Text, doc.Text)
		v.rep.same(indexFiles, row, "language", d.Language, doc.Language)
		v.rep.same(indexFiles, row, "outline", hex.EncodeToString([]byte(d.Outline)), hex.EncodeToString([]byte(doc.Outline)))
	}
	v.rep.same(indexFiles, row, "fetched_at", instant(d.FetchedAt), instant(v.batch.URL(want.Canonical).FetchedAt))
	v.rep.same(indexFiles, row, "members_total", fmt.Sprint(d.MembersTotal), fmt.Sprint(len(want.Members)))
	v.rep.same(indexFiles, row, "inlinks", fmt.Sprint(d.Inlinks), fmt.Sprint(len(want.Inlinks)))
	v.rep.same(indexFiles, row, "members", fmt.Sprint(d.Members), fmt.Sprint(v.batch.ShownMembers(want, document.DefaultMembers)))
	v.compareAnchors(row, d.Anchors, want.Anchors())
	v.sameRank(indexFiles, row, "rank", d.Rank, want.Rank)
	return nil
}

// compareAnchors compares the anchors of a document with all anchors of its inlinks. They
// must be equal if the document has room for all. Otherwise the ranks of the sources at the
// last export, which are no longer known, have decided which anchors it shows. Then each
// anchor must have its true count, the document must show as many anchors as it has room
// for, and they must be in the right order.
func (v *verifier) compareAnchors(row string, shown []index.Anchor, all []batch.Anchor) {
	if len(all) > document.DefaultAnchors && len(shown) == document.DefaultAnchors {
		known := make(map[index.Anchor]bool, len(shown))
		for _, a := range shown {
			known[a] = true
		}
		all = slices.DeleteFunc(all, func(a batch.Anchor) bool { return !known[index.Anchor(a)] })
	}
	v.rep.same(indexFiles, row, "anchors", fmt.Sprint(shown), fmt.Sprint(all))
}

// instant returns a time in a form in which equal instants are equal.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
