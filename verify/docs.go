package verify

import (
	"context"
	"fmt"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// compareDocs compares what the document observer keeps of every page: title,
// text and language, its links, and the links as they were inverted.
func (v *verifier) compareDocs(ctx context.Context) error {
	texts := make(map[page.URL]bool)
	said, inverted := v.linkLists(), v.linkLists()
	err := v.tx.Scan(ctx, schema.GroupDoc, "", "", func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		for _, c := range cols {
			switch c.Name {
			case schema.Text.Name:
				texts[u] = true
				err = v.compareText(u, c)
			case schema.Links.Name:
				err = v.compareLinkList(u, c, said)
			case schema.Inverted.Name:
				err = v.compareLinkList(u, c, inverted)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", u, err)
			}
		}
		return nil
	})
	for u := range v.batch.URLs() {
		if u.Document.Outcome == page.Page && !texts[u.URL] {
			v.rep.add(schema.GroupDoc, string(u.URL), schema.Text.Name, "", fmt.Sprintf("%q", u.Document.Title))
		}
		v.missingLinks(u.URL, schema.Links, said)
		v.missingLinks(u.URL, schema.Inverted, inverted)
	}
	return err
}

func (v *verifier) compareText(u page.URL, c txn.Version) error {
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
	v.rep.same(schema.GroupDoc, string(u), c.Name+" (title)", stored.Title, b.Document.Title)
	v.rep.same(schema.GroupDoc, string(u), c.Name+" (text)", stored.Text, b.Document.Text)
	v.rep.same(schema.GroupDoc, string(u), c.Name+" (language)", stored.Language, b.Document.Language)
	return nil
}

// linkLists spells the counting links of all pages that have any.
func (v *verifier) linkLists() map[page.URL]string {
	lists := make(map[page.URL]string)
	for u := range v.batch.URLs() {
		if len(u.Document.Links) > 0 {
			lists[u.URL] = describeLinks(schema.GroupLinks(u.Document.Links))
		}
	}
	return lists
}

// compareLinkList takes out of want what is there.
func (v *verifier) compareLinkList(u page.URL, c txn.Version, want map[page.URL]string) error {
	stored, err := schema.DecodeLinks(c.Data)
	if err != nil {
		return err
	}
	v.rep.same(schema.GroupDoc, string(u), c.Name, describeLinks(stored), want[u])
	delete(want, u)
	return nil
}

func (v *verifier) missingLinks(u page.URL, c txn.Column, want map[page.URL]string) {
	if list, missing := want[u]; missing {
		v.rep.add(c.Group, string(u), c.Name, "", list)
	}
}

func describeLinks(groups []schema.TargetLinks) string {
	return fmt.Sprintf("%q", groups)
}
