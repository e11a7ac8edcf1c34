package observers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"indexer/internal/rank"
	"indexer/page"
	"indexer/schema"
	"indexer/store/mem"
	"indexer/txn"
)

// bare is a table with nothing but what a test writes there.
func bare(t *testing.T) *txn.DB {
	t.Helper()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := txn.Open(t.Context(), table, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func write(t *testing.T, db *txn.DB, fn func(*txn.Txn) error) {
	t.Helper()
	if _, err := db.Run(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// memberWorld is a cluster with members of all kinds, and ranks that are often about the
// same, or 0.99 of each other.
type memberWorld struct {
	random *rand.Rand
	key    page.ContentKey
	there  map[page.URL]string // member rows
}

// change has a URL come, go, become another kind of member, or get another rank. It returns
// the member rows that rerank is woken at.
func (w *memberWorld) change(tx *txn.Txn) (woken []string) {
	scheme := [...]string{"https", "http"}[w.random.IntN(2)]
	u := page.MustParseURL(fmt.Sprintf("%s://m.example/%s%d", scheme, strings.Repeat("p", w.random.IntN(3)), w.random.IntN(30)))
	if row, is := w.there[u]; is && w.random.IntN(2) == 0 {
		delete(w.there, u)
		tx.Delete(row, schema.Member)
		woken = append(woken, row)
	}
	if _, is := w.there[u]; !is && w.random.IntN(4) > 0 {
		row := schema.MemberRow(w.key, schema.MemberInfo{URL: u, Eligible: w.random.IntN(4) > 0})
		w.there[u] = row
		tx.Set(row, schema.Member, nil)
	}
	if w.random.IntN(3) == 0 {
		tx.Delete(schema.URLRow(u), schema.RankState)
	} else {
		r := rank.Teleport * []float64{1, 1.001, 1.005, 1.0101, 1.011, 1.02, 2}[w.random.IntN(7)]
		tx.Set(schema.URLRow(u), schema.RankState, schema.StoredRankState{Inlinks: 1 + w.random.IntN(2), Rank: r}.Encode())
	}
	if row, is := w.there[u]; is {
		woken = append(woken, row)
	}
	return woken
}

// TestSectionsChoose changes members at random, renews the sections they are in, and then
// compares what the sections tell with what all members do.
func TestSectionsChoose(t *testing.T) {
	SetSummarySizes(t, SummarySizes{Most: 4, Cut: 2, Least: 2, Read: 7, Run: 28})
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		db := bare(t)
		w := &memberWorld{random: rand.New(rand.NewPCG(seed, 11)), key: page.ContentKey{7}, there: make(map[page.URL]string)}
		if w.random.IntN(2) == 0 {
			write(t, db, func(tx *txn.Txn) error {
				tx.Set(schema.AppRow, schema.RankTolerance, schema.EncodeTolerance(0.01))
				return nil
			})
		}
		for round := range 12 {
			var rows []string
			write(t, db, func(tx *txn.Txn) error {
				rows = nil
				for range 1 + w.random.IntN(12) {
					rows = append(rows, w.change(tx)...)
				}
				return nil
			})
			renewAll(t, db, w.key, rows)
			checkSections(t, db, w.key, len(w.there), fmt.Sprintf("seed %d, round %d", seed, round))
		}
	}
}

// renewAll renews sections, as runs of rerank do that are woken at these member rows, and
// at those that are left to them.
func renewAll(t *testing.T, db *txn.DB, key page.ContentKey, rows []string) {
	t.Helper()
	at := []string{""}
	for _, row := range rows {
		_, suffix := schema.SplitMemberRow(row)
		at = append(at, suffix)
	}
	for runs := 0; len(at) > 0; runs++ {
		if runs > 200 {
			t.Fatal("the sections are never all read")
		}
		var left []string
		write(t, db, func(tx *txn.Txn) (err error) {
			left, err = renewSome(t, tx, key, at)
			return err
		})
		at = left
	}
}

// renewSome is one run, which returns the rows that another one is needed for.
func renewSome(t *testing.T, tx *txn.Txn, key page.ContentKey, at []string) (left []string, err error) {
	r, err := newRenewal(t.Context(), tx, len(at))
	if err != nil {
		return nil, err
	}
	s, err := readSections(t.Context(), tx, key)
	if err != nil {
		return nil, err
	}
	if len(s.list) == 0 {
		r.begin(s)
	}
	few := at[:min(len(at), 3)] // a run reads 28 members, three sections of 7 and what is added to one
	if err := r.renew(t.Context(), s, slices.Clone(few)); err != nil {
		return nil, err
	}
	if spent := rerankWrites - len(at) - r.room; spent > 30 {
		t.Errorf("%d mutations for %d rows", spent, len(few))
	}
	for i := range s.list {
		if s.list[i].Unread {
			left = append(left, s.list[i].at)
		}
	}
	return append(left, at[len(few):]...), nil
}

func checkSections(t *testing.T, db *txn.DB, key page.ContentKey, members int, when string) {
	t.Helper()
	ctx := context.Background()
	tx, err := db.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	all, _, err := membersUpTo(ctx, tx, key, noLimit)
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSections(ctx, tx, key)
	if err != nil {
		t.Fatal(err)
	}
	_, err = CheckSummaries(ctx, tx, func(row, stored, computed string) {
		if stored != "" && computed != "" {
			t.Errorf("%s: section at %q is %s, not %s", when, row, stored, computed)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want, contested := choose(all)
	got, gotContested, err := s.choose(ctx, tx)
	if err != nil || got != want || gotContested != contested {
		t.Fatalf("%s: sections choose %q, contested %t (%v); members %q, %t", when, got, gotContested, err, want, contested)
	}
	sum := Candidates{s.total.Among}
	if len(all) != members || s.total.Members != members || sum.Sum() != candidates(all) {
		t.Fatalf("%s: %d members in sections, %d in rows, %d written", when, s.total.Members, len(all), members)
	}
	few, among, err := contenders(ctx, tx, key)
	if err != nil || among != candidates(all) {
		t.Fatalf("%s: contenders: %v", when, err)
	}
	if c, open := choose(few); c != want || open != contested {
		t.Fatalf("%s: contenders choose %q, contested %t; members %q, %t", when, c, open, want, contested)
	}
	for i := range s.list {
		if n := s.list[i].Members; n > sectionMost {
			t.Fatalf("%s: a section of %d members", when, n)
		}
	}
}

// TestSectionsConflict: of two runs that renew a section at once, one begins anew, also if
// the other one has found it as it was. Else a member that came and went at once would
// stay counted: the run that has seen it commits after the one that has seen it gone.
func TestSectionsConflict(t *testing.T) {
	db := bare(t)
	key := page.ContentKey{7}
	member := func(i int) string {
		return schema.MemberRow(key, schema.MemberInfo{URL: page.MustParseURL(fmt.Sprintf("https://m.example/%d", i)), Eligible: true})
	}
	write(t, db, func(tx *txn.Txn) error {
		for i := range 5 {
			tx.Set(member(i), schema.Member, nil)
		}
		return nil
	})
	renewAll(t, db, key, nil)
	write(t, db, func(tx *txn.Txn) error {
		tx.Set(member(9), schema.Member, nil)
		return nil
	})
	renewIn := func(tx *txn.Txn) error {
		_, at := schema.SplitMemberRow(member(9))
		_, err := renewSome(t, tx, key, []string{at})
		return err
	}
	slow, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback()
	if err := renewIn(slow); err != nil {
		t.Fatal(err)
	}
	write(t, db, func(tx *txn.Txn) error {
		tx.Delete(member(9), schema.Member)
		return nil
	})
	write(t, db, renewIn)
	if _, err := slow.Commit(t.Context()); !errors.Is(err, txn.ErrConflict) {
		t.Errorf("the run that has seen the member commits: %v", err)
	}
	checkSections(t, db, key, 5, "after both")
}

// TestSectionBehind: a section that its members do not agree with is told by name, and is
// right again after rerank was woken as that says, whoever has damaged it.
func TestSectionBehind(t *testing.T) {
	SetSummarySizes(t, SummarySizes{Most: 4, Cut: 2, Least: 1, Read: 7, Run: 28})
	for damaged := range 3 {
		db := bare(t)
		key := page.ContentKey{7}
		write(t, db, func(tx *txn.Txn) error {
			for i := range 6 {
				u := page.MustParseURL(fmt.Sprintf("https://m.example/%d", i))
				tx.Set(schema.MemberRow(key, schema.MemberInfo{URL: u, Eligible: true}), schema.Member, nil)
			}
			return nil
		})
		renewAll(t, db, key, nil)
		var behind *behindError
		write(t, db, func(tx *txn.Txn) error {
			s, err := readSections(t.Context(), tx, key)
			if err != nil {
				return err
			}
			s.list[damaged].First = 7
			tx.Set(s.row(damaged), schema.Summary, s.list[damaged].Encode())
			s.add()
			if _, _, err := s.choose(t.Context(), tx); !errors.As(err, &behind) {
				t.Errorf("section %d is wrong: %v", damaged, err)
			}
			return nil
		})
		renewAll(t, db, key, []string{behind.row})
		checkSections(t, db, key, 6, fmt.Sprintf("section %d was damaged", damaged))
	}
}
