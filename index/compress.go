package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/webindexer/indexer/index/analysis"

	"github.com/klauspost/compress/s2"
)

// headSize is how much of a text is stored separately, in bytes before compression.
// Snippets are cut from it, so that a query never reads the rest of a long text.
const headSize = 32 << 10

// A compressed part of a text is an S2 block after a checksum, CRC-32C in four bytes,
// little-endian. S2 takes a third of the processor time of zstd, and a third more bytes
// (docs/decisions/0022-s2.md); its blocks have no checksum of their own.
const sumSize = crc32.Size

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pack compresses a text into its head and its rest; for most texts rest is nil.
func pack(text string) (head, rest []byte) {
	h := analysis.Truncate(text, headSize)
	head = packPart(h)
	if len(h) < len(text) {
		rest = packPart(text[len(h):])
	}
	return head, rest
}

// packPart compresses into a buffer that is kept for the next text. It returns a copy without
// spare room, because that waits for its transaction. The copy is never nil, which would be NULL.
func packPart(text string) []byte {
	buffer := texts.Get().(*[]byte)
	defer texts.Put(buffer)
	// The encoder takes the room after the copy of the text.
	b := append((*buffer)[:0], text...)
	n := len(b)
	b = slices.Grow(b, s2.MaxEncodedLen(n))
	block := s2.Encode(b[n:cap(b)], b[:n])
	keep(buffer, b)
	part := binary.LittleEndian.AppendUint32(make([]byte, 0, sumSize+len(block)), crc32.Checksum(block, castagnoli))
	return append(part, block...)
}

// unpack returns the text of the given parts, concatenated.
func unpack(parts ...[]byte) (string, error) {
	buffer := texts.Get().(*[]byte)
	defer texts.Put(buffer)
	text := (*buffer)[:0]
	for _, p := range parts {
		if len(p) == 0 {
			continue
		}
		n, err := partLen(p)
		if err != nil {
			return "", fmt.Errorf("%w: stored text: %w", ErrCorrupt, err)
		}
		text = slices.Grow(text, n)
		if _, err := s2.Decode(text[len(text):len(text)+n], p[sumSize:]); err != nil {
			return "", fmt.Errorf("%w: stored text: %w", ErrCorrupt, err)
		}
		text = text[:len(text)+n]
	}
	keep(buffer, text)
	return string(text), nil
}

var errSum = errors.New("wrong checksum")

// partLen returns the length of a part of a text. It checks the part before anything is
// allocated for it.
func partLen(p []byte) (int, error) {
	if len(p) < sumSize || binary.LittleEndian.Uint32(p) != crc32.Checksum(p[sumSize:], castagnoli) {
		return 0, errSum
	}
	n, err := s2.DecodedLen(p[sumSize:])
	if err != nil || n > 2*MaxText {
		return 0, cmp.Or(err, s2.ErrTooLarge)
	}
	return n, nil
}

// texts are buffers for compression and decompression.
var texts = sync.Pool{New: func() any { b := make([]byte, 0, headSize); return &b }}

// keep stores a grown buffer in buffer, unless it is too large.
func keep(buffer *[]byte, b []byte) {
	if cap(b) <= 4*headSize {
		*buffer = b
	}
}
