package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

const scanHelp = `
Print the contents of a table of the store row by row, as values or as the records that
hold them. Without a table, list the tables.

PREFIX is the beginning of a row: text, a URL, or hexadecimal digits after 0x. Values are
decoded where their format is known. --format json prints one object per line. If another
process has the data directory open, the command runs in that process.

  --raw      the records as they are stored: every version, rollbacks, and data that
             no record points to
  --locks    locks on cells of the table: locks of open transactions, and read locks
             that reads for update have left
  --notify   notifications for observers of the table, and their acknowledgements
  --at TIME  the state at a time or timestamp that is still kept` + momentHelp

// scanRequest is the argument of a request for scan.
type scanRequest struct {
	Table  string          `json:"table"`
	Prefix []byte          `json:"prefix"` // JSON has no text that is not UTF-8
	Raw    bool            `json:"raw"`
	Locks  bool            `json:"locks"`
	Notify bool            `json:"notify"`
	At     snapshot.Moment `json:"at"`
	Limit  int             `json:"limit"`
}

func (a *app) scanCommand() *cobra.Command {
	var req scanRequest
	var at string
	cmd := &cobra.Command{
		Use:   "scan [TABLE [PREFIX]]",
		Short: "Print tables of the store",
		Long:  long(scanHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples(
			"indexer scan url https://skerryrock.example/",
			"indexer scan --raw --limit 20 fetch",
			"indexer scan --notify fetch --format json",
		),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if req.At, err = parseMoment(at, time.Now()); err != nil {
				return err
			}
			if err := req.take(args); err != nil {
				return err
			}
			b, err := json.Marshal(req)
			if err != nil {
				return fmt.Errorf("scan: %w", err)
			}
			return a.ask(cmd.Context(), a.request("scan", string(b)), a.stdout)
		},
	}
	cmd.Flags().BoolVar(&req.Raw, "raw", false, "print the records as they are stored")
	cmd.Flags().BoolVar(&req.Locks, "locks", false, "print the locks on cells of the table")
	cmd.Flags().BoolVar(&req.Notify, "notify", false, "print notifications and acknowledgements")
	momentFlag(cmd, &at)
	cmd.Flags().IntVar(&req.Limit, "limit", 0, "stop after this many `lines`; 0: no limit")
	return cmd
}

// take checks the arguments before anything is opened.
func (s *scanRequest) take(args []string) error {
	ways := 0
	for _, way := range []bool{s.Raw, s.Locks, s.Notify, !s.At.IsNow()} {
		if way {
			ways++
		}
	}
	switch {
	case len(args) > 2:
		return &usageError{reason: "indexer scan takes at most a table and a prefix", help: "indexer scan"}
	case ways > 1:
		return &usageError{reason: "--raw, --locks, --notify and --at exclude each other; use one of them", help: "indexer scan"}
	case len(args) == 0 && ways > 0:
		return &usageError{reason: "indexer scan needs a table; `indexer scan` alone lists them", help: "indexer scan"}
	case s.Limit < 0:
		return &usageError{reason: "--limit must not be negative", help: "indexer scan"}
	}
	if len(args) > 0 {
		s.Table = args[0]
	}
	if len(args) == 2 {
		prefix, err := inspect.RowPrefix(args[1])
		if err != nil {
			return &inputError{what: args[1], reason: err.Error()}
		}
		s.Prefix = []byte(prefix)
	}
	return nil
}

// scanLine is the JSON of one line.
type scanLine struct {
	Kind   string `json:"kind"`
	Table  string `json:"table"`
	Row    string `json:"row"`
	Column string `json:"column,omitempty"`
	TS     uint64 `json:"ts,omitempty"`
	Start  uint64 `json:"start,omitempty"`
	Op     string `json:"op,omitempty"`
	Value  any    `json:"value,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`

	Observer string   `json:"observer,omitempty"`
	Primary  string   `json:"primary,omitempty"`
	Owner    string   `json:"owner,omitempty"`
	Runs     []string `json:"runs,omitempty"`
	Damage   string   `json:"damage,omitempty"`
}

// scanner prints lines until it reaches the limit.
type scanner struct {
	scanRequest
	w      io.Writer
	json   bool
	lines  int
	values bool // prints values, so the kind of a line is omitted
}

func scan(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	s := &scanner{w: stdout, json: req.Format == "json"}
	if len(req.Args) != 1 || json.Unmarshal([]byte(req.Args[0]), &s.scanRequest) != nil {
		return &usageError{reason: "the request for scan cannot be read"}
	}
	err := s.scan(ctx, r)
	if errors.Is(err, txn.ErrStop) {
		return nil
	}
	return err
}

func (s *scanner) scan(ctx context.Context, r *repository.Repository) error {
	db := r.DB()
	tables := db.AppGroups()
	if s.Table == "" {
		for _, name := range tables {
			if err := s.print(scanLine{Kind: "table", Table: name}, name); err != nil {
				return err
			}
		}
		return nil
	}
	if !slices.Contains(tables, s.Table) {
		return &usageError{reason: fmt.Sprintf("there is no table %q; there are %s", s.Table, strings.Join(tables, ", ")), help: "indexer scan"}
	}
	switch {
	case s.Raw:
		return s.records(ctx, db, s.Table)
	case s.Locks:
		if err := s.records(ctx, db, txn.LockGroup); err != nil {
			return err
		}
		return s.records(ctx, db, txn.ReadGroup)
	case s.Notify:
		for _, group := range []string{txn.NotifyGroup, txn.LeasedGroup} {
			if err := s.records(ctx, db, group); err != nil {
				return err
			}
		}
		return s.records(ctx, db, txn.AckGroup)
	}
	return s.state(ctx, r)
}

// state prints the values now or at an earlier moment.
func (s *scanner) state(ctx context.Context, r *repository.Repository) error {
	s.values = true
	tx, err := snapshot.Past(ctx, r.DB(), s.At)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return tx.ScanPrefix(ctx, s.Table, string(s.Prefix), func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if err := s.line(scanLine{Kind: "value", Table: s.Table, Row: row, Column: c.Name, TS: c.TS}, c.Data, true); err != nil {
				return err
			}
		}
		return nil
	})
}

// records prints the records of a group that belong to the table.
func (s *scanner) records(ctx context.Context, db *txn.DB, group string) error {
	prefix := string(s.Prefix)
	return db.Records(ctx, group, prefix, txn.PrefixEnd(prefix), func(r txn.Record) error {
		if r.Damage == nil && r.Cell.Group != s.Table {
			return nil
		}
		l := scanLine{Kind: r.Kind, Table: s.Table, Row: r.Cell.Row, Column: r.Cell.Name, TS: r.TS, Start: r.Start, Op: r.Op, Observer: r.Observer, Owner: r.Owner, Runs: r.Runs}
		if r.Kind == txn.KindLock && r.Damage == nil {
			l.Primary = inspect.RowText(r.Primary.Group, r.Primary.Row) + " " + r.Primary.Column.String()
		}
		if r.Damage != nil {
			l.Damage = r.Damage.Error()
		}
		return s.line(l, r.Value, r.Inline || r.Kind == txn.KindData)
	})
}

// line completes a line with its value and prints it.
func (s *scanner) line(l scanLine, value []byte, has bool) error {
	if has {
		l.Bytes = len(value)
		v, err := inspect.DecodeValue(txn.Column{Group: l.Table, Name: l.Column}, value)
		if err != nil {
			l.Damage = "the value cannot be decoded: " + err.Error()
		}
		l.Value = v
	}
	l.Row = inspect.RowText(l.Table, l.Row)
	return s.print(l, s.text(l))
}

func (s *scanner) print(l scanLine, text string) error {
	if s.Limit > 0 && s.lines >= s.Limit {
		return txn.ErrStop
	}
	s.lines++
	if s.json {
		return printJSON(s.w, l)
	}
	_, err := fmt.Fprintln(s.w, plain(text))
	return err
}

// maxValueText bounds the length of a value in text; JSON has the whole value.
const maxValueText = 300

func (s *scanner) text(l scanLine) string {
	parts := []string{l.Row, l.Column, fmt.Sprint("@", l.TS)}
	if !s.values {
		parts = append(parts, l.Kind)
	}
	for _, p := range []struct{ name, value string }{
		{"", l.Op}, {"of ", l.Observer}, {"primary ", l.Primary}, {"epoch ", l.Owner}, {"run of ", strings.Join(l.Runs, " ")}, {"DAMAGED: ", l.Damage},
	} {
		if p.value != "" {
			parts = append(parts, p.name+p.value)
		}
	}
	if l.Start != 0 && l.Start != l.TS {
		parts = append(parts, fmt.Sprint("start ", l.Start))
	}
	if l.Value != nil {
		parts = append(parts, valueText(l.Value))
	}
	return strings.Join(parts, "  ")
}

func valueText(v any) string {
	text, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		text = string(b)
	}
	if len(text) > maxValueText {
		text = strings.ToValidUTF8(text[:maxValueText], "") + "…"
	}
	return text
}
