package webtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// Stage has the same parts as a Rig but no pipeline: a test decides which observer runs
// when, and sees what each step changes.
type Stage struct {
	DB       *txn.DB
	Sink     *Sink
	registry *notify.Registry
	loader   *loader.Loader
	last     []string // what Changes saw
}

// NewStage returns a stage on an empty table, with its own sink and tracker instead of
// those of the options. It need not be closed.
func NewStage(ctx context.Context, opts observers.Options) (*Stage, error) {
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		return nil, err
	}
	s := &Stage{Sink: NewSink()}
	opts.Sink, opts.Tracker = s.Sink, observers.NewTracker()
	if s.registry, err = opts.Registry(); err != nil {
		return nil, err
	}
	if s.DB, err = txn.Open(ctx, table, txn.Options{Observers: s.registry.Observers}); err != nil {
		return nil, err
	}
	s.loader = loader.New(s.DB, open{}, func(string) {})
	return s, nil
}

// open admits every load.
type open struct{}

func (open) Admit(ctx context.Context) error { return context.Cause(ctx) }

func (open) Loading() (end func()) { return func() {} }

// Load loads a fetch.
func (s *Stage) Load(ctx context.Context, f *page.Fetch) (loader.Effect, error) {
	return s.loader.Load(ctx, f)
}

// Run runs an observer once, on all rows for which it is woken, in as many transactions
// as its batches need; "" runs all observers until all work is done.
func (s *Stage) Run(ctx context.Context, observer string) error {
	return s.run(ctx, observer, nil)
}

// RunAndDie does what Run does in a process that dies before the commit: only what the observer
// wrote to the index files stays.
func (s *Stage) RunAndDie(ctx context.Context, observer string) error {
	if err := s.run(ctx, observer, errDied); !errors.Is(err, errDied) {
		return cmp.Or(err, fmt.Errorf("%s had nothing to do", observer))
	}
	return nil
}

var errDied = errors.New("died before the commit")

func (s *Stage) run(ctx context.Context, observer string, fate error) error {
	for {
		notes, _, err := s.DB.Notifications(ctx, "", 1<<20)
		if err != nil {
			return err
		}
		if len(notes) == 0 {
			return nil
		}
		for _, o := range s.registry.List() {
			if observer == "" || o.Name == observer {
				if err := s.runOn(ctx, &o, notes, fate); err != nil {
					return err
				}
			}
		}
		if observer != "" {
			return nil
		}
	}
}

func (s *Stage) runOn(ctx context.Context, o *notify.Observer, notes []txn.Notification, fate error) error {
	notes = slices.DeleteFunc(slices.Clone(notes), func(n txn.Notification) bool { return n.Observer != o.Name })
	for batch := range slices.Chunk(notes, o.Batch) {
		_, err := s.DB.Run(ctx, func(tx *txn.Txn) error {
			var rows []string
			for _, n := range batch {
				rows = append(rows, n.Cell.Row)
				tx.AddTrigger(txn.Trigger{Cell: n.Cell, Observer: o.Name, TS: n.TS, Strong: !o.Weak})
			}
			return cmp.Or(o.Run(ctx, tx, rows), fate)
		})
		if err != nil {
			return fmt.Errorf("run %s: %w", o.Name, err)
		}
	}
	return nil
}

// All formats everything in the table.
func (s *Stage) All(ctx context.Context) ([]string, error) {
	tx, err := s.DB.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	out, err := Dump(ctx, tx)
	if err != nil {
		return nil, err
	}
	var shown []string
	for _, d := range s.Sink.Documents() {
		shown = append(shown, formatDocument(d))
	}
	slices.Sort(shown)
	woken, err := DumpNotifications(ctx, s.DB)
	return slices.Concat(out, shown, woken), err
}

func formatDocument(d *index.Document) string {
	members := make([]string, len(d.Members))
	for i, m := range d.Members {
		members[i] = Short(m)
	}
	return fmt.Sprintf("index files %s: %s, %q %q %.12q at %s, members %v, %d inlinks %v",
		formatKey(d.Cluster), Short(d.URL), d.Title, d.Language, d.Text, formatTime(d.FetchedAt), members, d.Inlinks, d.Anchors)
}

// Changes formats the differences since the last call: "-" before removed lines, "+"
// before added ones.
func (s *Stage) Changes(ctx context.Context) (string, error) {
	now, err := s.All(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	write := func(mark string, list, other []string) {
		for _, l := range list {
			if !slices.Contains(other, l) {
				fmt.Fprintf(&b, "%s %s\n", mark, l)
			}
		}
	}
	write("-", s.last, now)
	write("+", now, s.last)
	s.last = now
	if b.Len() == 0 {
		return "nothing\n", nil
	}
	return b.String(), nil
}
