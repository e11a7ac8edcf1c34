package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page"
)

// TestSpec runs the specifications of testdata. A case lists members, one a line:
//
//	URL [no] [rank=R [within=T]]
//
// "no" is not eligible; without a rank nothing links to it; T is the tolerance, 0 by default.
// Commands, and what they print:
//
//	choose  the choice of all members, and the contenders
//	renew   giant=N largest=N split=N smallest=N read=N [at=(URL, …)]: makes one run, which
//	        is to renew the summaries that hold some members, "" for a cluster without
//	        summaries; the members are those of the case. Prints the summaries, and what is
//	        left to another run
//	break   ranks=(R, …): decides by exact ranks of the members; prints the choice
func TestSpec(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		stored := make(map[string]Summary)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w := newWorld()
			w.stored = stored
			for line := range strings.Lines(d.Input) {
				w.add(parseMember(t, line))
			}
			switch d.Cmd {
			case "choose":
				return w.spellChoice()
			case "renew":
				return w.spellRenewal(t, d)
			case "break":
				return w.spellTie(t, d)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func parseMember(t *testing.T, line string) Ranked {
	t.Helper()
	words := strings.Fields(line)
	m := Member{URL: url("https://" + strings.TrimPrefix(words[0], "https://")), Eligible: true}
	if strings.HasPrefix(words[0], "http://") {
		m.URL = url(words[0])
	}
	var value, tolerance float64
	linked := false
	for _, w := range words[1:] {
		var err error
		switch name, v, _ := strings.Cut(w, "="); name {
		case "no":
			m.Eligible = false
		case "rank":
			linked = true
			value, err = strconv.ParseFloat(v, 64)
		case "within":
			tolerance, err = strconv.ParseFloat(v, 64)
		default:
			t.Fatalf("member %q: unknown word %q", line, w)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !linked {
		return Unlinked(m)
	}
	return Linked(m, value, tolerance)
}

func short(u page.URL) string { return strings.TrimPrefix(string(u), "https://") }

func (w *world) spellChoice() string {
	c := choose(w.list())
	s := fmt.Sprintf("canonical %q, contested %t, %d members with rank %.4g\ncontenders", short(c.Canonical), c.Contested, c.Members, c.Rank)
	var few Contenders
	for _, m := range w.list() {
		if !few.Add(m) {
			break
		}
	}
	for _, m := range few.List {
		s += " " + short(m.URL)
	}
	return s + "\n"
}

func (w *world) spellRenewal(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	l := tiny
	for name, field := range map[string]*int{"giant": &l.Giant, "largest": &l.Largest, "split": &l.Split, "smallest": &l.Smallest, "read": &l.Read, "run": &l.Run} {
		d.MaybeScanArgs(t, name, field)
	}
	var positions []string
	if at, ok := d.Arg("at"); ok {
		for _, u := range at.Vals {
			positions = append(positions, position(Member{URL: url("https://" + u), Eligible: true}))
		}
	}
	again := w.renew(t, l, positions)
	var b strings.Builder
	for _, p := range w.summaries().Parts {
		if p.Incomplete {
			fmt.Fprintf(&b, "%s: incomplete\n", spellPosition(p.At))
			continue
		}
		fmt.Fprintf(&b, "%s: %d members with rank %.4g, %d without inlinks, others up to %.4g and %.4g\n", spellPosition(p.At), p.Members, p.Rank, p.Unlinked, p.First, p.Second)
	}
	for _, at := range again {
		fmt.Fprintf(&b, "again at %s\n", spellPosition(at))
	}
	return b.String()
}

func spellPosition(at string) string {
	if len(at) < 5 {
		return "beginning"
	}
	return short(page.URL(at[5:]))
}

func (w *world) spellTie(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	list := w.list()
	exact := make(map[page.URL]float64)
	for i, v := range d.CmdArgs[0].Vals {
		r, err := strconv.ParseFloat(v, 64)
		if err != nil {
			t.Fatal(err)
		}
		exact[list[i].URL] = r
	}
	tie := NewTie(list)
	solved := false
	err := BreakTies(t.Context(), []*Tie{tie}, func(_ context.Context, enough func(Ranks) bool) error {
		solved = true
		// The approximations are as wrong as they may be: that of the first member is too low, and those of
		// all others are too high.
		of := func(u page.URL, tolerance float64) float64 {
			if u == list[0].URL {
				return exact[u] * (1 - min(tolerance, 0.5)) // a rank is positive
			}
			return exact[u] * (1 + tolerance)
		}
		for tolerance := 2.0; !enough(Ranks{func(u page.URL) float64 { return of(u, tolerance) }, tolerance}); tolerance /= 2 {
			if tolerance < 1e-15 {
				return nil // the limit of floating point
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("contested %t, ranks computed %t, canonical %q\n", tie.Contested, solved, short(tie.Canonical))
}

// TestBreakTiesFails: what fails while ranks are computed is returned.
func TestBreakTiesFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	a, b := Member{"https://a.example/", true}, Member{"https://b.example/", true}
	tie := NewTie([]Ranked{Linked(a, 0.99, 0.01), Linked(b, 1, 0.01)})
	if !tie.Contested {
		t.Fatal("the choice is not contested")
	}
	err := BreakTies(t.Context(), []*Tie{tie}, func(context.Context, func(Ranks) bool) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

// TestCandidates: neither the order of members matters, nor members that cannot be chosen.
func TestCandidates(t *testing.T) {
	t.Parallel()
	list := []Member{{"https://a.example/", true}, {"https://b.example/", true}, {"https://c.example/", false}}
	sum := func(list ...Member) (c Candidates) {
		for _, m := range list {
			c.Add(m)
		}
		return c
	}
	backwards := slices.Clone(list)
	slices.Reverse(backwards)
	if sum(list...) != sum(backwards...) || sum(list...) != sum(list[:2]...) {
		t.Error("the digest depends on the order, or on members that are not eligible")
	}
	if sum(list[:1]...) == sum(list[1:2]...) || sum(list[:1]...)+sum(list[1:]...) != sum(list...) {
		t.Error("digests of parts do not add up")
	}
}
