package export

import (
	"bufio"
	"encoding/json"
	"io"
)

// buffered is the size of a writer's buffer, in bytes.
const buffered = 1 << 16

type jsonl[T any] struct {
	out *bufio.Writer
	enc *json.Encoder
}

// NewJSONL writes one JSON object per line, in UTF-8, without escaping < and >.
func NewJSONL[T any](w io.Writer) Sink[T] {
	out := bufio.NewWriterSize(w, buffered)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &jsonl[T]{out, enc}
}

func (j *jsonl[T]) Write(record *T) error { return j.enc.Encode(record) }

func (j *jsonl[T]) Close() error { return j.out.Flush() }
