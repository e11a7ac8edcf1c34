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
	texts, said, inverted, framed := make(map[page.URL]bool), make(map[page.URL]bool), make(map[page.URL]bool), make(map[page.URL]bool)
	err := v.scan(ctx, schema.GroupDoc, func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		for _, c := range cols {
			switch c.Name {
			case schema.Text.Name:
				texts[u] = true
				err = v.compareText(ctx, u, c)
			case schema.Links.Name:
				said[u] = true
				err = v.compareLinkList(u, schema.Links, cols)
			case schema.Inverted.Name:
				inverted[u] = true
				err = v.compareLinkList(u, schema.Inverted, cols)
			case schema.Frames.Name:
				framed[u] = true
				err = v.compareFrames(u, c)
			case schema.Inverting.Name:
				v.rep.add(schema.GroupDoc, string(u), c.Name, "work left over", "")
			default:
				v.compareLinkPart(u, c.Name, cols)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", u, err)
			}
		}
		return nil
	})
	for u := range v.batch.URLs() {
		if u.Document.Outcome == page.Page && !texts[u.URL] {
			doc, err := v.document(ctx, u.URL)
			if err != nil {
				return err
			}
			v.rep.add(schema.GroupDoc, string(u.URL), schema.Text.Name, "", fmt.Sprintf("%q", doc.Title))
		}
		if !said[u.URL] {
			v.rep.same(schema.GroupDoc, string(u.URL), schema.Links.Name, "", linkList(u))
		}
		if !inverted[u.URL] {
			v.rep.same(schema.GroupDoc, string(u.URL), schema.Inverted.Name, "", linkList(u))
		}
		if !framed[u.URL] {
			v.rep.same(schema.GroupDoc, string(u.URL), schema.Frames.Name, "", frameList(u))
		}
	}
	return err
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

// linkList formats the counting links of a page; "" if it has none.
func linkList(u *batch.URL) string {
	if u == nil || len(u.Document.Links) == 0 {
		return ""
	}
	return describeLinks(schema.GroupLinks(u.Document.Links))
}

// compareLinkPart finds parts of lists of links that belong to no list.
func (v *verifier) compareLinkPart(u page.URL, name string, cols []txn.Version) {
	for _, list := range []txn.Column{schema.Links, schema.Inverted} {
		if i, ok := schema.PartNumber(list, name); ok && len(schema.PartsIn(list, cols)) > i {
			return // it was read with part 0
		}
	}
	v.rep.add(schema.GroupDoc, string(u), name, "a part that belongs to no list", "")
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
