package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
)

// inspectionText writes an inspection as text, in pieces.
func inspectionText(w io.Writer, i *inspect.Inspected, visits *frontier.Inspection) error {
	from, links, err := i.LinkTotals()
	if err != nil {
		return err
	}
	t := &longTable{w: w}
	inspectionHead(&t.table, i.Inspection)
	if err := longList(t, "members", fmt.Sprint(i.MembersTotal), i.EachMember, urlText); err != nil {
		return err
	}
	to := i.OutPagesTotal()
	if err := longList(t, "links to", pagesText(to, i.OutlinksTotal), i.EachOutPage, pageLinksText); err != nil {
		return err
	}
	list(&t.table, "frames", i.Frames, urlText)
	renderingText(&t.table, i.Rendering)
	list(&t.table, "needed by", i.NeededBy, urlText)
	if err := longList(t, "linked from", pagesText(from, links), i.EachInPage, pageLinksText); err != nil {
		return err
	}
	if next := i.Next(); next != "" {
		members, outlinks, inlinksShown := i.Shown()
		t.row("left out", leftOut(i.MembersTotal-members, to-outlinks, from-inlinksShown))
		t.row("next", "--after "+next)
	}
	if i.Pending > 0 {
		t.row("note", fmt.Sprintf("observers have %s to process, so this may be about to change", count(i.Pending, "row")))
	}
	t.b.WriteString(visitsText(visits))
	return t.flush()
}

func urlText(u page.URL) string { return string(u) }

// leftOut says which entries of the lists are not shown.
func leftOut(members, to, from int) string {
	var parts []string
	for _, l := range []struct {
		n         int
		one, many string
	}{{members, "member", "members"}, {to, "page it links to", "pages it links to"}, {from, "page that links to it", "pages that link to it"}} {
		switch {
		case l.n == 1:
			parts = append(parts, "1 "+l.one)
		case l.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", l.n, l.many))
		}
	}
	return strings.Join(parts, ", ") + "; --limit 0 shows all, --after continues"
}

// inspectionHead writes the part before the lists.
func inspectionHead(t *table, i *inspect.Inspection) {
	t.row("url", string(i.URL))
	if i.AsOf != nil {
		t.row("as of", asOfText(i.AsOf))
	}
	if i.Indexed {
		t.row("in the index", "yes: "+i.Reason)
	} else {
		t.row("in the index", "no: "+i.Reason)
	}
	outcome := i.Outcome
	if i.Status != 0 {
		outcome += fmt.Sprint(" ", i.Status)
	}
	t.row("outcome", outcome)
	if i.FetchedAt != nil {
		t.row("fetched at", i.FetchedAt.UTC().Format(time.RFC3339))
	}
	t.optional("last failure", i.Failure)
	t.optional("title", i.Title)
	t.optional("language", i.Language)
	t.optional("leads to", string(i.LeadsTo))
	t.optional("terminal", string(i.Terminal))
	t.optional("canonical", string(i.Canonical))
	t.optional("content key", i.ContentKey)
	t.optional("cluster", i.Cluster)
	switch {
	case i.Rank == nil:
		t.row("rank", "none: it was never fetched, and no known page links to it")
	case *i.URLRank != *i.Rank:
		t.row("rank", rankNumber(*i.Rank))
		t.row("rank of this URL", rankNumber(*i.URLRank))
	default:
		t.row("rank", rankNumber(*i.Rank))
	}
}

// rankNumber formats a rank the same way wherever it is shown.
func rankNumber(r float64) string { return fmt.Sprintf("%.3f", r) }

// longTable is a table that is written in pieces.
type longTable struct {
	table
	w io.Writer
}

// tablePart is how much of a long table is kept in memory, in bytes.
const tablePart = 32 << 10

func (t *longTable) flush() error {
	_, err := io.WriteString(t.w, t.b.String())
	t.b.Reset()
	return err
}

// longList adds the number of entries of a list and the entries to show.
func longList[T any](t *longTable, name, total string, each func(func(T) error) error, text func(T) string) error {
	if total != "0" {
		t.row(name, total)
	}
	return each(func(entry T) error {
		t.row("", text(entry))
		if t.b.Len() < tablePart {
			return nil
		}
		return t.flush()
	})
}

func asOfText(a *inspect.AsOf) string {
	if a.Asked == nil {
		return fmt.Sprintf("timestamp %d", a.TS)
	}
	return fmt.Sprintf("%s, timestamp %d", a.Asked.UTC().Format(time.RFC3339), a.TS)
}

// pagesText counts pages, and their links if there are more links than pages.
func pagesText(pages, links int) string {
	if pages == links {
		return fmt.Sprint(pages)
	}
	return fmt.Sprintf("%s, by %s", count(pages, "page"), count(links, "link"))
}

// pageLinksText formats a page with the anchors of its links.
func pageLinksText(p inspect.PageLinks) string {
	var b strings.Builder
	b.WriteString(string(p.URL))
	for i, a := range p.Anchors {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %q", a)
	}
	return b.String()
}
