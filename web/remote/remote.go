// Package remote lets a server show the data directory that another process has open. It
// asks that process, over any transport, for what the pages need:
//
//   - [Inspector] asks about URLs; the other process answers with [AnswerInspector].
//   - [Pipeline] asks once a second how the pipeline is doing; the other process answers
//     with [AnswerPipeline].
//
// Requests and answers are JSON objects. The two processes may have different versions: each
// ignores fields that it does not know, and an answer that does not match its request is an
// error that says so.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/webindexer/indexer/internal/control"
)

// Ask sends a request with one argument to the process that holds the data directory, and
// copies its output. It reports done if the process carried out the request; otherwise
// said holds the reason. The errors are those of control.Ask, and ErrReleased.
type Ask func(ctx context.Context, argument string, out, said io.Writer) (done bool, err error)

var (
	// ErrReleased says that the process released the directory before it had answered.
	ErrReleased = errors.New("the process that has the data directory released it before its answer was complete")
	// ErrRequest says that a request cannot be read or is not known.
	ErrRequest = errors.New("a server cannot ask that")
)

// maxSaid bounds the reason for a request that was not carried out, in bytes.
const maxSaid = 64 << 10

// What a process says instead of an answer that can be used.
var (
	errSays       = errors.New("it says")
	errUnreadable = errors.New("its answer cannot be read")
)

// exchange sends a request, and decodes an answer of at most the given bytes. The errors are
// those of the Ask, errSays and errUnreadable.
func (ask Ask) exchange(ctx context.Context, request any, most int, answer any) error {
	b, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("ask the process that has the data directory: %w", err)
	}
	out, said := &control.Buffer{Most: most}, &control.Buffer{Most: maxSaid}
	done, err := ask(ctx, string(b), out, said)
	if err != nil {
		return err
	}
	if !done {
		return fmt.Errorf("%w: %s", errSays, strings.TrimSpace(said.String()))
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return nil
}

// encode writes v as one object on one line.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
