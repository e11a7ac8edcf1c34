package pdf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A message between parent and child is a kind, the length of its data in four bytes, and the
// data.
type kind byte

// The kinds. The parent sends documents, and the child everything else.
const (
	kindDocument   kind = 'd'
	kindReady      kind = 'r' // the child can read documents
	kindHTML       kind = 'h'
	kindUnreadable kind = 'u' // why the document cannot be read
	kindFailed     kind = 'f' // why the child cannot read documents
)

var errMessage = errors.New("pdf: message that cannot be understood")

func writeMessage(w io.Writer, k kind, data []byte) error {
	head := [5]byte{byte(k)}
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	if _, err := w.Write(head[:]); err != nil || len(data) == 0 {
		return err
	}
	_, err := w.Write(data)
	return err
}

// readMessage reads a message with at most the given bytes of data. The error is io.EOF if
// the stream ends before it.
func readMessage(r io.Reader, limit int) (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if int64(n) > int64(limit) {
		return 0, nil, fmt.Errorf("%w: %d bytes are more than %d", errMessage, n, limit)
	}
	data, err := readN(r, int(n))
	return kind(head[0]), data, err
}

// readN reads n bytes, and takes memory only for bytes that come.
func readN(r io.Reader, n int) ([]byte, error) {
	const step = 1 << 20
	data := make([]byte, 0, min(n, step))
	for len(data) < n {
		next := min(n-len(data), step)
		at := len(data)
		data = append(data, make([]byte, next)...)
		if _, err := io.ReadFull(r, data[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return data, nil
}
