package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// compareMembers compares the member rows of all clusters: u is in members(c)
// exactly if cluster(u) is c (invariant 3).
func (v *verifier) compareMembers(ctx context.Context) error {
	want := make(map[string]page.URL)
	for u := range v.batch.URLs() {
		if u.Cluster != nil {
			info := schema.MemberInfo{URL: u.URL, Eligible: u.Terminal == u.URL && !u.Document.NoIndex}
			want[schema.MemberRow(u.Cluster.Key, info)] = u.URL
		}
	}
	err := v.tx.Scan(ctx, schema.GroupMember, "", "", func(row string, _ []txn.Version) error {
		v.rep.Checked["members"]++
		k, m, err := schema.ParseMemberRow(row)
		if err != nil {
			return err
		}
		if _, ok := want[row]; !ok {
			v.rep.add(schema.GroupMember, short(k), string(m.URL), describeMember(m), "")
		}
		delete(want, row)
		return nil
	})
	for _, row := range slices.Sorted(maps.Keys(want)) {
		if k, m, err := schema.ParseMemberRow(row); err == nil {
			v.rep.add(schema.GroupMember, short(k), string(m.URL), "", describeMember(m))
		}
	}
	return err
}

func describeMember(m schema.MemberInfo) string {
	if m.Eligible {
		return "member that can be canonical"
	}
	return "member"
}

// compareLinks compares the link rows with the links of all pages (invariant 2).
func (v *verifier) compareLinks(ctx context.Context) error {
	want := make(map[string]string)
	for u := range v.batch.URLs() {
		for _, g := range schema.GroupLinks(u.Document.Links) {
			want[schema.PairRow(g.Target, u.URL)] = describeAnchors(g.Anchors)
		}
	}
	return v.comparePairs(ctx, schema.Anchors, "links", want, func(c txn.Version) (string, error) {
		anchors, err := schema.DecodeAnchors(c.Data)
		return describeAnchors(anchors), err
	})
}

func describeAnchors(anchors []string) string {
	return fmt.Sprintf("%q", slices.Sorted(slices.Values(anchors)))
}

// compareLeads compares the lead rows with the targets of pages and redirects.
func (v *verifier) compareLeads(ctx context.Context) error {
	want := make(map[string]string)
	for u := range v.batch.URLs() {
		if target := u.Document.Target; target != "" {
			want[schema.PairRow(target, u.URL)] = "lead"
		}
	}
	return v.comparePairs(ctx, schema.Lead, "leads", want, func(txn.Version) (string, error) { return "lead", nil })
}

// comparePairs compares the rows of edges that have a column.
func (v *verifier) comparePairs(ctx context.Context, c txn.Column, kind string, want map[string]string, describe func(txn.Version) (string, error)) error {
	err := v.tx.Scan(ctx, c.Group, "", "", func(row string, cols []txn.Version) error {
		v.rep.Checked[kind]++
		stored, err := describe(cols[0])
		if err != nil {
			return fmt.Errorf("%s: %w", readable(row), err)
		}
		v.rep.same(c.Group, readable(row), c.Name, stored, want[row])
		delete(want, row)
		return nil
	})
	for _, row := range slices.Sorted(maps.Keys(want)) {
		v.rep.add(c.Group, readable(row), c.Name, "", want[row])
	}
	return err
}

// readable spells a pair row for people.
func readable(row string) string {
	target, source, err := schema.ParsePairRow(row)
	if err != nil {
		return strings.ReplaceAll(row, "\x00", " ")
	}
	return fmt.Sprintf("%s -> %s", source, target)
}
