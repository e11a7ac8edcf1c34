package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestRepeats: whatever documents come, change, move to another host and go, the counts of
// repeated text are those of the documents that are there, which Check recounts.
func TestRepeats(t *testing.T) {
	rng := testenv.Random(t)
	dir := t.TempDir()
	w, err := OpenWriter(t.Context(), dir, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	check := func() {
		t.Helper()
		r, err := OpenReader(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		v, err := r.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if err := v.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	menu := "products and services of the company, support for customers, about us, careers, press, contact and terms of use of this site "
	words := strings.Fields("harbour museum ferry salt nets tide rope light keeper stone")
	steps := testenv.Size(20, 60, 1000)
	for seq := range uint64(steps) {
		var list []Change
		for range 1 + rng.IntN(4) {
			cluster := page.ContentKey{byte(rng.IntN(12))}
			if rng.IntN(4) == 0 {
				list = append(list, Delete(cluster, seq+1))
				continue
			}
			text := menu
			for range rng.IntN(60) {
				text += words[rng.IntN(len(words))] + " "
			}
			o := page.Outline{Main: []page.Range{{Start: len(menu) / 2, End: len(menu)}}}
			list = append(list, Upsert(&Document{
				Cluster: cluster, Seq: seq + 1, Text: text, Outline: o.Encode(),
				URL: page.URL(fmt.Sprintf("https://host%d.example/%d", rng.IntN(3), rng.IntN(6))),
			}))
		}
		if err := w.Apply(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		if seq%10 == 0 {
			check()
		}
	}
	check()
}

// TestRepeatedSnippets: a snippet is not cut from what all pages of a site say, even if
// nothing in a page distinguishes that from its content.
func TestRepeatedSnippets(t *testing.T) {
	dir := t.TempDir()
	w, err := OpenWriter(t.Context(), dir, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	notice := "This ferry timetable is provided without any warranty, may change at all times, and must not be copied without a permission in writing, " +
		"which the harbour office grants to schools, libraries and newspapers of our county upon request, provided they name its source and print " +
		"every ferry with both hours of departure; nobody else has asked so far, but we keep this paragraph on each page because lawyers advised it. "
	words := func(of string, n int) (text string) { // that no other page has
		for i := range n {
			text += fmt.Sprint(of, i, " ")
		}
		return text
	}
	var list []Change
	for i, own := range []string{"apples", "pears", "plums", "cherries", "quinces", "figs"} {
		list = append(list, Upsert(&Document{
			Cluster: page.ContentKey{byte(i + 1)}, Seq: 1, URL: page.URL(fmt.Sprintf("https://port.example/%d", i)), Title: own,
			Text: notice + words(own, 30) + "A ferry carries " + own + words(own, 30),
		}))
	}
	if err := w.Apply(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, query := range []string{"ferry", "quinces"} {
		res, err := r.Search(t.Context(), query, search.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			if !strings.Contains(h.Snippet.Text, "carries "+h.Title) && query == "ferry" || strings.Contains(h.Snippet.Text, "without any warranty") {
				t.Errorf("%s: %s", query, h.Snippet.Text)
			}
		}
	}
}
