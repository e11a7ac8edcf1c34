package division

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/partition"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// State is what a crawler tells the others about itself.
type State struct {
	Host    string    `json:"host"` // the machine
	Process int       `json:"process"`
	Since   time.Time `json:"since"` // by its own clock
	Idle    bool      `json:"idle"`
}

// view is what the table said at one moment.
type view struct {
	crawlers map[string]State // by token; some may be dead
	holders  [partition.Count]string
	hosts    []hostMessage
	files    []forwarded
}

type hostMessage struct {
	row, host string
	partition int
}

type forwarded struct {
	row       string
	partition int
	file      []byte
}

// readView reads all rows but the fences.
func readView(ctx context.Context, tx *txn.Txn) (*view, error) {
	v := &view{crawlers: make(map[string]State)}
	for _, part := range []struct{ from, end string }{
		{crawlerPrefix, txn.PrefixEnd(crawlerPrefix)},
		{filePrefix, txn.PrefixEnd(partitionPrefix)},
	} {
		if err := tx.Scan(ctx, Group, part.from, part.end, v.add); err != nil {
			return nil, fmt.Errorf("division: read the rows of the crawlers: %w", err)
		}
	}
	return v, nil
}

func (v *view) add(row string, cols []txn.Version) error {
	if len(cols) != 1 {
		return fmt.Errorf("division: row %q has %d columns: %w", row, len(cols), store.ErrCorrupt)
	}
	data := cols[0].Data
	kind, rest, _ := strings.Cut(row, "\x00")
	if kind+"\x00" == crawlerPrefix {
		var s State
		if err := json.Unmarshal(data, &s); err != nil {
			return fmt.Errorf("division: crawler %s: %w: %w", rest, store.ErrCorrupt, err)
		}
		v.crawlers[rest] = s
		return nil
	}
	p, more, err := parseNumber(rest)
	if err != nil {
		return err
	}
	switch kind + "\x00" {
	case hostPrefix:
		v.hosts = append(v.hosts, hostMessage{row, more, p})
	case filePrefix:
		v.files = append(v.files, forwarded{row, p, data})
	case partitionPrefix:
		v.holders[p] = string(data)
	}
	return nil
}

// alive returns the tokens of the crawlers that may be alive, in order.
func (v *view) alive(ctx context.Context, live txn.Liveness) (tokens []string, err error) {
	for _, token := range slices.Sorted(maps.Keys(v.crawlers)) {
		is := token == live.Token()
		if !is {
			if is, err = live.Alive(ctx, token); err != nil {
				return nil, fmt.Errorf("division: ask whether %s is alive: %w", token, err)
			}
		}
		if is {
			tokens = append(tokens, token)
		}
	}
	return tokens, nil
}

// finished reports whether these rows show that all work is done.
func (v *view) finished(alive []string) bool {
	if len(v.hosts)+len(v.files) > 0 {
		return false
	}
	for _, token := range alive {
		if !v.crawlers[token].Idle {
			return false
		}
	}
	for _, holder := range v.holders {
		if !slices.Contains(alive, holder) {
			return false
		}
	}
	return true
}
