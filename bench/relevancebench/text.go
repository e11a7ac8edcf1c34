package relevancebench

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/webindexer/indexer/index/search"
)

// Text is the result as people read it. With missed it lists queries whose page was
// not the first hit.
func (r *Result) Text(missed bool) string {
	var b strings.Builder
	if r.Judged != nil {
		fmt.Fprintf(&b, "%d documents\nweights %s\n", r.Documents, weightsText(&r.Weights))
		r.Judged.text(&b, missed)
		return b.String()
	}
	fmt.Fprintf(&b, "%d documents, seed %d\nweights %s\n", r.Documents, r.Seed, weightsText(&r.Weights))
	for _, k := range r.Kinds {
		k.text(&b, missed)
	}
	return b.String()
}

func (k *KindResult) text(b *strings.Builder, missed bool) {
	fmt.Fprintf(b, "\n%s: %s\n  %d of %d queries\n", k.Kind, k.What, k.Queries, k.Population)
	if len(k.Variants) > 0 {
		fmt.Fprintf(b, "  %-22s %10s %10s %6s\n", "", "success@1", "success@5", "MRR")
	}
	for _, v := range k.Variants {
		fmt.Fprintf(b, "  %-22s %10.3f %10.3f %6.3f\n", v.Variant, v.Success1, v.Success5, v.MRR)
	}
	k.Agreement.text(b, missed)
	if !missed {
		return
	}
	for _, v := range k.Variants {
		missedText(b, v.Missed)
	}
}

func missedText(b *strings.Builder, list []Miss) {
	for _, m := range list {
		fmt.Fprintf(b, "  at %d: %s\n    want %s\n    got  %s\n", m.Position, plainText(m.Query), plainText(m.Want), plainText(m.Got))
	}
}

func (a *Agreement) text(b *strings.Builder, missed bool) {
	if a == nil {
		return
	}
	fmt.Fprintf(b, "  server and index files: the same first hit for %d of %d queries, the same ten for %d; %.1f %% of the hits are shared\n", a.SameFirst, a.Queries, a.SameTen, 100*a.Shared)
	fmt.Fprintf(b, "  a query takes %.1f ms and %.1f requests on the server, and %.1f ms in files\n", a.ServerMS, a.Requests, a.FilesMS)
	if !missed {
		return
	}
	for _, d := range a.Differing {
		fmt.Fprintf(b, "  first hits of %s\n    files  %s\n    server %s\n", plainText(d.Query), plainText(d.Files), plainText(d.Server))
	}
}

func (r *JudgedResult) text(b *strings.Builder, missed bool) {
	fmt.Fprintf(b, "\n%s: %d queries\n", r.File, r.Queries)
	fmt.Fprintf(b, "  %-22s %9s %9s %8s %8s %6s %10s %9s\n", "", "success@1", "success@5", "nDCG@10", "repeats", "head", "navigation", "other")
	for _, v := range r.Variants {
		fmt.Fprintf(b, "  %-22s %9.3f %9.3f %8.3f %8.2f %6.2f %10.3f %9.3f\n", v.Variant, v.Success1, v.Success5, v.NDCG, v.Repeats, v.HeadRepeats, v.Navigation, v.OtherLanguage)
	}
	b.WriteString(`  repeats: hits of the first ten that repeat one above them; head: the same for frequent
  words of titles; navigation: share of snippets that are half navigation; other: share
  of English queries whose first hit is in another language
`)
	if r.Variants[0].NDCG == 0 {
		fmt.Fprintf(b, "  no page that %s asks for was found; are these the pages that it is about?\n", r.File)
	}
	r.Agreement.text(b, missed)
	if missed {
		missedText(b, r.Variants[0].Missed)
	}
}

// plainText is a text from the web without characters that control a terminal or the
// direction of what follows.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, s)
}

func weightsText(w *search.Weights) string {
	return fmt.Sprintf("title %g, body %g, anchors %g, outside_anchors %g, url %g, rest %g; title_match %g, anchor_match %g, rank %g, typed %g",
		w.Title, w.Body, w.Anchors, w.Outside, w.URL, w.Rest, w.TitleMatch, w.AnchorMatch, w.Rank, w.Typed)
}
