package verify

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// compareMembers compares the member rows of all clusters: u is in members(c)
// if and only if cluster(u) is c (invariant 3).
func (v *verifier) compareMembers(ctx context.Context) error {
	found := make(map[page.URL]bool)
	err := v.scan(ctx, schema.GroupMember, func(row string, _ []txn.Version) error {
		v.rep.Checked["members"]++
		k, m, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		if u := v.batch.URL(m.URL); u != nil && u.Cluster != nil && u.Cluster.Key == k && memberInfo(u) == m {
			found[u.URL] = true
		} else {
			v.rep.add(schema.GroupMember, short(k), string(m.URL), describeMember(m), "")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for u := range v.batch.URLs() {
		if u.Cluster != nil && !found[u.URL] {
			v.rep.add(schema.GroupMember, short(u.Cluster.Key), string(u.URL), "", describeMember(memberInfo(u)))
		}
	}
	return nil
}

// memberInfo returns what the row of a member should say.
func memberInfo(u *batch.URL) schema.MemberInfo {
	return schema.MemberInfo{URL: u.URL, Eligible: u.Eligible()}
}

func describeMember(m schema.MemberInfo) string {
	if m.Eligible {
		return "member that can be canonical"
	}
	return "member"
}

// compareLinks compares the link rows with the links of all pages (invariant 2).
func (v *verifier) compareLinks(ctx context.Context) error {
	return v.comparePairs(ctx, &pairs{
		column: schema.Anchors, kind: "links",
		stored: func(cols []txn.Version) (string, error) {
			anchors, err := schema.AnchorsIn(cols)
			return describeAnchors(anchors), err
		},
		computed: func(u *batch.URL, target page.URL) string {
			links := linksTo(u, target)
			if len(links) == 0 {
				return ""
			}
			anchors := make([]string, len(links))
			for i, l := range links {
				anchors[i] = l.Anchor
			}
			return describeAnchors(anchors)
		},
		targets: func(u *batch.URL) iter.Seq[page.URL] {
			return func(yield func(page.URL) bool) {
				for i, l := range u.Document.Links {
					if (i == 0 || l.Target != u.Document.Links[i-1].Target) && !yield(l.Target) {
						return
					}
				}
			}
		},
	})
}

// linksTo returns the links of a page to one target; computeBatch has sorted them.
func linksTo(u *batch.URL, target page.URL) []page.Link {
	links := u.Document.Links
	from, _ := slices.BinarySearchFunc(links, target, func(l page.Link, t page.URL) int { return cmp.Compare(l.Target, t) })
	to := from
	for to < len(links) && links[to].Target == target {
		to++
	}
	return links[from:to]
}

func describeAnchors(anchors []string) string {
	return fmt.Sprintf("%q", slices.Sorted(slices.Values(anchors)))
}

// comparePointers compares the lead rows with the targets of pages and redirects.
func (v *verifier) comparePointers(ctx context.Context) error {
	return v.comparePairs(ctx, &pairs{
		column: schema.Pointer, kind: "leads",
		stored: func([]txn.Version) (string, error) { return "lead", nil },
		computed: func(u *batch.URL, target page.URL) string {
			if u.Document.Target == target {
				return "lead"
			}
			return ""
		},
		targets: func(u *batch.URL) iter.Seq[page.URL] {
			return func(yield func(page.URL) bool) {
				if u.Document.Target != "" {
					yield(u.Document.Target)
				}
			}
		},
	})
}

// pairs describes rows of edges that have a column.
type pairs struct {
	column txn.Column
	kind   string
	// stored and computed format the actual and the expected contents of a row; "" means
	// no row.
	stored   func(cols []txn.Version) (string, error)
	computed func(u *batch.URL, target page.URL) string
	targets  func(u *batch.URL) iter.Seq[page.URL] // of the rows that a URL should have, each once
}

// comparePairs compares the rows one by one during the scan, so a page with very
// many inlinks takes no more memory than others. It finds missing rows from the pages
// that have fewer rows than they should.
func (v *verifier) comparePairs(ctx context.Context, p *pairs) error {
	found := make(map[page.URL]int) // number of found rows that should exist, by source
	err := v.scan(ctx, p.column.Group, func(row string, cols []txn.Version) error {
		v.rep.Checked[p.kind]++
		stored, err := p.stored(cols)
		if err != nil {
			return fmt.Errorf("%s: %w", readable(row), err)
		}
		target, source, err := schema.ParsePairRow(row)
		if err != nil {
			return err
		}
		computed := ""
		if u := v.batch.URL(source); u != nil {
			computed = p.computed(u, target)
		}
		if computed != "" {
			found[source]++
		}
		v.rep.same(p.column.Group, readable(row), p.column.Name, stored, computed)
		for _, c := range cols {
			if !isPart(p.column, c.Name, cols) {
				v.rep.add(p.column.Group, readable(row), c.Name, noList, "")
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for u := range v.batch.URLs() {
		wanted := 0
		for range p.targets(u) {
			wanted++
		}
		if found[u.URL] == wanted {
			continue
		}
		if err := v.missingPairs(ctx, p, u); err != nil {
			return err
		}
	}
	return nil
}

// missingPairs reports the rows that a URL lacks.
func (v *verifier) missingPairs(ctx context.Context, p *pairs, u *batch.URL) error {
	for target := range p.targets(u) {
		row := schema.PairRow(target, u.URL)
		c, err := v.tx.GetOnce(ctx, row, p.column)
		if err != nil {
			return err
		}
		if !c.Exists {
			v.rep.add(p.column.Group, readable(row), p.column.Name, "", p.computed(u, target))
		}
	}
	return nil
}

// readable formats a pair row for people.
func readable(row string) string {
	target, source, err := schema.ParsePairRow(row)
	if err != nil {
		return strings.ReplaceAll(row, "\x00", " ")
	}
	return fmt.Sprintf("%s -> %s", source, target)
}
