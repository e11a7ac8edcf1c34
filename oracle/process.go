package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Process describes a process for people, in addition to its liveness token. Nothing
// depends on it.
type Process struct {
	Token string `json:"token"`
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Description
	// Since is when it joined, and Beat when it last showed a sign of life, by its own clock.
	Since time.Time `json:"since,omitzero"`
	Beat  time.Time `json:"beat"`

	// Count is the number of its signs of life, if its token is in the table. A count that
	// does not rise shows that the process is stopped, cut off or dead, whatever its clock
	// says. 0: its token is elsewhere.
	Count uint64 `json:"-"`
}

// Description is the purpose and the state of a process.
//
// It is published with the signs of life, so it costs no write of its own in the table, and
// one small write every few seconds in etcd. It is bounded: at most maxRates rates.
type Description struct {
	Role  string             `json:"role,omitempty"`  // its command, such as "indexer worker"
	Place string             `json:"place,omitempty"` // its data directory or address
	Index string             `json:"index,omitempty"` // the URL of the index that it writes to
	Rates map[string]float64 `json:"rates,omitempty"` // per second, by what they count
}

const maxRates = 16

// Bounded drops all rates if there are more than may be published.
func (d Description) Bounded() Description {
	if len(d.Rates) > maxRates {
		d.Rates = nil
	}
	return d
}

// NewProcess describes this process.
func NewProcess(token string) Process {
	host, _ := os.Hostname()
	now := time.Now().UTC()
	return Process{Token: token, Host: host, PID: os.Getpid(), Since: now, Beat: now}
}

// Processes lists the processes that have a token in a table. Some may be dead.
func Processes(ctx context.Context, table store.Reader) (list []Process, err error) {
	r := store.Range{Group: txn.MetaGroup, Start: []byte(processPrefix), End: []byte("process0"), ColumnPrefix: beatColumn, Newest: 1}
	_, err = table.Scan(ctx, r, func(c store.Cell) error {
		var p Process
		if err := json.Unmarshal(c.Value, &p); err != nil {
			return fmt.Errorf("process %q: %w: %w", c.Row, store.ErrCorrupt, err)
		}
		p.Count = c.TS
		list = append(list, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("oracle: list the processes: %w", err)
	}
	return list, nil
}

// OfProcess reports whether a cell is about processes that use the table, rather than data:
// liveness tokens, who serves timestamps, and what txn.OfProcess names. A copy of the table
// has no use for them. The ceiling of timestamps is data.
func OfProcess(c store.Cell) bool {
	if c.Group != txn.MetaGroup {
		return false
	}
	return bytes.HasPrefix(c.Row, []byte(processPrefix)) || bytes.Equal(c.Row, oracleRow) && bytes.Equal(c.Column, holderColumn) || txn.OfProcess(c)
}
