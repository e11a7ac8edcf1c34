package verify

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// compareDocs compares what the document observer stores for every page: title,
// text, language, outline, frames, links, and the links as they were inverted.
func (v *verifier) compareDocs(ctx context.Context) error {
	seen := make(map[page.URL]docCells)
	err := v.scan(ctx, schema.GroupDoc, func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		var has docCells
		for _, c := range cols {
			if err := v.compareDocCell(ctx, u, c, cols, &has); err != nil {
				return fmt.Errorf("%s: %w", u, err)
			}
		}
		seen[u] = has
		return nil
	})
	if err != nil {
		return err
	}
	for u := range v.batch.URLs() {
		if err := v.missingDocCells(ctx, u, seen[u.URL]); err != nil {
			return err
		}
	}
	return nil
}

// docCells says which cells of a page the document observer has stored.
type docCells struct{ text, links, inverted, frames bool }

func (v *verifier) compareDocCell(ctx context.Context, u page.URL, c txn.Version, cols []txn.Version, has *docCells) error {
	switch c.Name {
	case schema.Text.Name:
		has.text = true
		return v.compareText(ctx, u, c)
	case schema.Links.Name:
		has.links = true
		return v.compareLinkList(u, schema.Links, cols)
	case schema.Inverted.Name:
		has.inverted = true
		return v.compareLinkList(u, schema.Inverted, cols)
	case schema.Frames.Name:
		has.frames = true
		return v.compareFrames(u, c)
	case schema.Inverting.Name:
		v.rep.add(schema.GroupDoc, string(u), c.Name, "work left over", "")
	default:
		v.compareLinkPart(u, c.Name, cols)
	}
	return nil
}

func (v *verifier) missingDocCells(ctx context.Context, u *batch.URL, has docCells) error {
	if u.Document.Outcome == page.Page && !has.text {
		doc, err := v.document(ctx, u.URL)
		if err != nil {
			return err
		}
		v.rep.add(schema.GroupDoc, string(u.URL), schema.Text.Name, "", fmt.Sprintf("%q", doc.Title))
	}
	if !has.links {
		v.rep.same(schema.GroupDoc, string(u.URL), schema.Links.Name, "", linkList(u))
	}
	if !has.inverted {
		v.rep.same(schema.GroupDoc, string(u.URL), schema.Inverted.Name, "", linkList(u))
	}
	if !has.frames {
		v.rep.same(schema.GroupDoc, string(u.URL), schema.Frames.Name, "", frameList(u))
	}
	return nil
}

func (v *verifier) compareText(ctx context.Context, u page.URL, c txn.Version) error {
	v.rep.Checked["texts"]++
	stored, err := schema.DecodeText(c.Data)
	if err != nil {
		return err
	}
	b := v.batch.URL(u)
	if b == nil || b.Document.Outcome != page.Page {
		v.rep.add(schema.GroupDoc, string(u), c.Name, fmt.Sprintf("%q", stored.Title), "")
		return nil
	}
	if digestText(stored.Title, stored.Text, stored.Language, stored.Outline) == v.facts[u].shown {
		return nil
	}
	doc, err := v.document(ctx, u)
	if err != nil {
		return err
	}
	v.rep.same(schema.GroupDoc, string(u), c.Name+" (title)", stored.Title, doc.Title)
	v.rep.same(schema.GroupDoc, string(u), c.Name+" (text)", stored.Text, doc.Text)
	v.rep.same(schema.GroupDoc, string(u), c.Name+" (language)", stored.Language, doc.Language)
	v.rep.same(schema.GroupDoc, string(u), c.Name+" (outline)", hex.EncodeToString([]byte(stored.Outline)), hex.EncodeToString([]byte(doc.Outline)))
	return nil
}

// linkList formats the counting links of a page. It returns "" if the page has none.
func linkList(u *batch.URL) string {
	if u == nil || len(u.Document.Links) == 0 {
		return ""
	}
	return describeLinks(schema.GroupLinks(u.Document.Links))
}

// compareLinkPart reports parts of lists of links that belong to no list.
func (v *verifier) compareLinkPart(u page.URL, name string, cols []txn.Version) {
	if !isPart(schema.Links, name, cols) && !isPart(schema.Inverted, name, cols) {
		v.rep.add(schema.GroupDoc, string(u), name, noList, "")
	}
}

const noList = "a part that belongs to no list"

// isPart reports whether a column is a part of a list, which was read with part 0.
func isPart(list txn.Column, name string, cols []txn.Version) bool {
	i, ok := schema.PartNumber(list, name)
	return ok && len(schema.PartsIn(list, cols)) > i
}

func (v *verifier) compareLinkList(u page.URL, c txn.Column, cols []txn.Version) error {
	stored, err := schema.DecodeLinkParts(schema.PartsIn(c, cols))
	if err != nil {
		return err
	}
	v.rep.same(schema.GroupDoc, string(u), c.Name, describeLinks(stored), linkList(v.batch.URL(u)))
	return nil
}

func describeLinks(groups []schema.TargetLinks) string {
	return fmt.Sprintf("%q", groups)
}

// frameList formats the frames of a page; "" if it has none.
func frameList(u *batch.URL) string {
	if u == nil || len(u.Document.Frames) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", u.Document.Frames)
}

func (v *verifier) compareFrames(u page.URL, c txn.Version) error {
	stored, err := schema.DecodeURLs(c.Data)
	if err != nil {
		return err
	}
	v.rep.same(schema.GroupDoc, string(u), c.Name, fmt.Sprintf("%q", stored), frameList(v.batch.URL(u)))
	return nil
}
