package control

import (
	"bytes"
	"fmt"
)

// Buffer collects an answer of at most Most bytes.
type Buffer struct {
	bytes.Buffer
	Most int
}

// Write fails if the answer would become too long.
func (b *Buffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.Most {
		return 0, fmt.Errorf("the answer has more than %d bytes", b.Most)
	}
	return b.Buffer.Write(p)
}
