package store

import "context"

// Table is the interface of an engine. All methods may be called
// concurrently. The engine does not keep byte slices that it was given after the call
// returns; slices that it returns belong to the caller.
type Table interface {
	Reader

	// Mutate applies m to its row if every guard of m holds, and does nothing
	// otherwise. Guards are evaluated, and mutations applied, in one atomic
	// step. An applied mutation is visible to every Read that starts after
	// Mutate returned, and survives a killed process.
	//
	// The error is nil exactly for the outcomes Applied and Refused. With
	// Unknown the mutation may or may not have happened, or may happen a little later.
	// An engine that lost the answer may look for the cells that m writes and report
	// Applied if it finds them, so callers that compete for a cell must write different
	// timestamps or values.
	Mutate(ctx context.Context, m RowMutation) (Result, error)

	// Apply writes rows without guards. It is atomic per row, not across rows.
	// Each mutation is idempotent: after an error the caller may call again.
	Apply(ctx context.Context, rows []RowMutation) error

	// Limits returns the largest sizes that the engine accepts.
	Limits() Limits

	// Groups lists the locality groups with which the table was opened.
	Groups() []GroupSpec

	// Close waits for running calls and releases the table. Later reads and writes fail with
	// ErrClosed; a second Close does nothing.
	Close() error
}

// Reader reads cells.
type Reader interface {
	// Read returns the cells of one row that the selectors name, all seen at
	// one instant: for each selector in turn, columns ascending, timestamps
	// descending.
	Read(ctx context.Context, row []byte, sel ...Selector) ([]Cell, error)

	// Scan calls fn for the cells of a range of rows in one group: rows
	// ascending, columns ascending, timestamps descending. Each row is seen at
	// one instant; different rows may be seen at different instants unless the
	// Reader is a Snapshot. Scan stops, always between two rows, when r.MaxCells
	// cells were passed to fn, and returns the row at which to resume (the Start of the
	// next call), or nil at the end of the range. If fn fails, Scan stops and
	// returns fn's error and the row of that cell. An error that matches ErrUnavailable
	// comes between two rows, too; the row at which to resume is then not known.
	Scan(ctx context.Context, r Range, fn func(Cell) error) (next []byte, err error)
}

// Cell is one version of one column of one row.
type Cell struct {
	Group  string
	Row    []byte
	Column []byte
	TS     uint64
	Value  []byte
}

// Selector names cells of a row.
type Selector struct {
	Group string
	// Column is an exact column name, or a prefix of one if Prefix is set. A nil
	// Column with Prefix names all columns of the group.
	Column []byte
	Prefix bool
	// MinTS and MaxTS bound the timestamp, both inclusive. A MaxTS of 0 means
	// MaxTS, the greatest possible timestamp.
	MinTS, MaxTS uint64
	// Newest keeps only the newest n matching versions of each column; 0 keeps all.
	Newest int
}

// Range names cells of many rows of one group.
type Range struct {
	Group string
	// Start is the first row, inclusive; End the last, exclusive; nil means no bound.
	Start, End []byte
	// ColumnPrefix keeps only columns that start with it.
	ColumnPrefix []byte
	MinTS, MaxTS uint64 // as in Selector
	Newest       int    // as in Selector
	// MaxCells ends the scan, between two rows, after this many cells were passed to
	// fn; 0 means no bound.
	MaxCells int
	// Borrowed allows the engine to use the slices of a Cell again once fn has
	// returned. It saves three allocations per cell.
	Borrowed bool
}

// Op is a kind of mutation.
type Op uint8

// The mutations. All are idempotent.
const (
	// Put writes a cell at a timestamp.
	Put Op = iota
	// Delete removes the cell with exactly this timestamp.
	Delete
	// DeleteUpTo removes all versions of a column with this timestamp or an
	// older one; newer ones survive.
	DeleteUpTo
)

// Mutation changes one column of a row.
type Mutation struct {
	Op     Op
	Group  string
	Column []byte
	// TS is the timestamp of the cell. In a Commit it may be AtCommit.
	TS    uint64
	Value []byte // Put only
}

// RowMutation changes one row if its guards hold. Mutate takes either Absent or Require,
// because no single request of Bigtable can express both; Commit takes both.
type RowMutation struct {
	Row []byte
	// Absent refuses the mutation if any cell exists that one of the selectors
	// names (their Newest is ignored).
	Absent []Selector
	// Require refuses the mutation unless the cell exists with exactly this
	// group, column and timestamp. nil requires nothing.
	Require   *CellRef
	Mutations []Mutation
}

// CellRef names one cell of a row.
type CellRef struct {
	Group  string
	Column []byte
	TS     uint64
}

// Outcome is the result of a guarded mutation.
type Outcome uint8

// The outcomes.
const (
	// Unknown means that the outcome cannot be determined (a connection broke, or the
	// context ended during the mutation). It comes with an error.
	Unknown Outcome = iota
	// Applied means it happened and is visible.
	Applied
	// Refused means a guard did not hold and nothing happened.
	Refused
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"unknown", "applied", "refused"}[o]
}

// Result is an Outcome with, for a refusal, the reason.
type Result struct {
	Outcome Outcome
	// Row and Found name the cell that made an Absent guard fail, if that was the
	// reason. Its value may be omitted. Found is nil if a Require failed.
	Row   []byte
	Found *Cell
}

// GroupSpec declares a locality group: columns that are stored, and scanned,
// together (Bigtable, OSDI 2006, section 6).
type GroupSpec struct {
	Name string
	// Latest keeps one version of each column, the one with the greatest
	// timestamp. A Put below the kept timestamp changes nothing that can be read; but if
	// the kept version is then removed with Delete, some engines show what that Put wrote.
	// DeleteUpTo removes both.
	Latest bool
	// Resident promises that the group is nearly always almost empty (locks):
	// an engine may keep its keys in memory and answer "no such cell" from there.
	Resident bool
	// Scanned promises that the group is mostly read by scans, and rarely by the names of
	// its columns. So an engine need not remember which columns exist, or where their
	// newest versions are.
	Scanned bool
	// OwnTable allows an engine to keep the group in a table of its own, for cells that
	// are few and scanned often (notifications). A mutation that changes this group and
	// others of a row is then not atomic: Puts in this group come before the rest, deletes
	// after it. A Read sees this group at an instant of its own. It takes no part in guards.
	OwnTable bool
}

// Limits are the bounds that an engine declares. Exceeding one is an error that
// matches ErrTooLarge, and changes nothing.
type Limits struct {
	MaxRowBytes    int // of a row key
	MaxColumnBytes int // of a column name
	MaxValueBytes  int
	// MaxBatchBytes bounds keys plus values of one Mutate, one row of Apply, or
	// one Commit.
	MaxBatchBytes int
	// MaxTS is the greatest timestamp that a Put can have. Deletes, selectors and ranges
	// may go up to the constant MaxTS.
	MaxTS uint64
}

// MaxTS is the greatest timestamp that a cell can have in any engine.
const MaxTS = AtCommit - 1

// AtCommit, in the mutations of a Commit, means the commit timestamp that
// the engine takes inside the atomic step.
const AtCommit = ^uint64(0)
