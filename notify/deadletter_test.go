package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/txn"
)

// Rows may hold any bytes and be as long as the store lets them; errors may be of
// any length. Whatever a row is, it can be set aside, listed and dropped.
func TestLettersOfAnyRow(t *testing.T) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			ctx := context.Background()
			long := strings.Repeat("long", 4000)
			rows := []string{"plain", "not utf-8 \xff\x00\xfe", "", long + "1", long + "2"}
			if e.name == "badger" {
				rows[2] = "not empty"
			}
			r := newRig(t, e.open(t), Options{Attempts: 1}, watch(func(_ context.Context, _ *txn.Txn, rows []string) error {
				return fmt.Errorf("%s: %s", rows[0], strings.Repeat("x", 10_000))
			}))
			s, err := NewStepper(ctx, r.p, r.db)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				r.set(row, "x", "1")
			}
			if err := s.Drain(ctx, nil); err != nil {
				t.Fatal(err)
			}
			before := r.db.LastTimestamp()
			letters, err := DeadLetters(ctx, r.db)
			if err != nil || len(letters) != len(rows) || r.db.LastTimestamp() != before {
				t.Fatalf("%d letters, %v; %d timestamps taken", len(letters), err, r.db.LastTimestamp()-before)
			}
			for _, row := range rows {
				if err := r.p.Drop(ctx, "watch", row); err != nil {
					t.Errorf("drop %.20q: %v", row, err)
				}
			}
			for _, l := range letters {
				if len(l.Error) != maxDeadLetterError || l.Observer != "watch" || l.Attempts != 1 || l.Time.IsZero() {
					t.Errorf("letter of %.20q: %d bytes of error, %s, %d attempts, %v", l.Row, len(l.Error), l.Observer, l.Attempts, l.Time)
				}
			}
			if letters, err := DeadLetters(ctx, r.db); err != nil || len(letters) != 0 {
				t.Errorf("left: %d letters, %v", len(letters), err)
			}
			r.close()
		})
	}
}

// A letter that cannot be read hides no others, and keeps no pipeline from
// starting.
func TestBrokenLetter(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, openMem(t), Options{}, watch(nothing))
	good, err := encodeDeadLetter(DeadLetter{Observer: "watch", Row: "good"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(deadRow("watch", "bad"), deadColumn, []byte("no letter"))
		tx.Set(deadRow("watch", "good"), deadColumn, good)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r.start()
	letters, err := DeadLetters(ctx, r.db)
	if len(letters) != 1 || letters[0].Row != "good" {
		t.Errorf("letters %v", letters)
	}
	if err == nil || !strings.Contains(err.Error(), `"watch bad"`) {
		t.Errorf("error %v does not name the letter", err)
	}
	if err := r.p.Drop(ctx, "watch", "bad"); err != nil {
		t.Errorf("drop it: %v", err)
	}
	r.close()
}

func TestDeadSetBound(t *testing.T) {
	var s deadSet
	if s.has("a") {
		t.Error("an empty set has a")
	}
	s.add("a")
	if !s.has("a") || s.has("b") {
		t.Error("a set of a")
	}
	for i := range deadSetBound {
		s.add(fmt.Sprint(i))
	}
	if !s.has("b") {
		t.Error("beyond its bound the set must say yes to all")
	}
	if s.add("c"); len(s.rows) > 0 {
		t.Errorf("beyond its bound the set holds %d rows for nothing", len(s.rows))
	}
}

// On a shared table, the letters of other processes are looked for while workers set rows aside.
// The race detector finds what they share without a lock.
func TestLookForLettersWhileRowsAreSetAside(t *testing.T) {
	r := newRig(t, openMem(t), Options{}, watch(nothing)).start()
	defer r.close()
	if _, err := r.db.Run(t.Context(), func(tx *txn.Txn) error {
		tx.Set(deadRow("watch", "row"), deadColumn, nil)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() {
		for ctx.Err() == nil {
			r.p.dead.add("another row")
		}
	})
	for range 20 {
		if err := r.p.loadDead(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop()
	worker.Wait()
}

// A retry of a full queue says so; the letter stays.
func TestRetryWithoutRoom(t *testing.T) {
	ctx := context.Background()
	fail := true
	r := newRig(t, openMem(t), Options{Attempts: 1, Capacity: 1}, watch(func(context.Context, *txn.Txn, []string) error {
		if fail {
			return errors.New("no")
		}
		return nil
	}))
	s, err := NewStepper(ctx, r.p, r.db)
	if err != nil {
		t.Fatal(err)
	}
	r.set("a", "x", "1")
	if err := s.Drain(ctx, nil); err != nil {
		t.Fatal(err)
	}
	r.set("b", "x", "1")
	fail = false
	if err := r.p.Retry(ctx, "watch", "a"); err == nil || !strings.Contains(err.Error(), "later") {
		t.Errorf("retry: %v", err)
	}
	if letters, err := DeadLetters(ctx, r.db); err != nil || len(letters) != 1 {
		t.Errorf("letters %v, %v", letters, err)
	}
	r.close()
}
