package histories_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// recorder writes a history, one event a line, in the order in which things
// happened: an invocation before the transaction begins, its end after it ended.
type recorder struct {
	mu   sync.Mutex
	text bytes.Buffer
	next int // process
	// stamped puts the time before each event, so that the histories of several processes
	// of one machine can be merged.
	stamped bool
}

// op is an operation of a transaction. Read is what a read gave.
type op struct {
	append bool
	key    string
	value  int
	read   []int
}

func (o op) MarshalJSON() ([]byte, error) {
	if o.append {
		return json.Marshal([]any{"append", o.key, o.value})
	}
	return json.Marshal([]any{"r", o.key, o.read})
}

// process returns a name for a client. A client whose transaction ended in
// doubt is never used again.
func (r *recorder) process() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	return r.next
}

func (r *recorder) event(process int, kind string, ops []op) {
	line, err := json.Marshal(map[string]any{"process": process, "type": kind, "ops": ops})
	if err != nil {
		line = []byte(err.Error()) // which no judge can read
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stamped {
		fmt.Fprintf(&r.text, "%019d ", time.Now().UnixNano())
	}
	r.text.Write(line)
	r.text.WriteByte('\n')
}

// A list is a cell with numbers, separated by commas.

func encodeList(l []int) []byte {
	var b []byte
	for i, n := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return b
}

func decodeList(b []byte) (l []int, err error) {
	if len(b) == 0 {
		return nil, nil
	}
	for s := range strings.SplitSeq(string(b), ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("list %q: %w", b, err)
		}
		l = append(l, n)
	}
	return l, nil
}
