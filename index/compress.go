package index

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/webindexer/indexer/index/analysis"

	"github.com/klauspost/compress/zstd"
)

// headSize is how much of a text is stored separately, in bytes before compression.
// Snippets are cut from it, so that a query never reads the rest of a long text.
const headSize = 32 << 10

type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// codecs are shared by all goroutines, which EncodeAll and DecodeAll allow; they start no
// goroutines of their own.
var codecs = sync.OnceValues(func() (codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(256<<10))
	if err != nil {
		return codec{}, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithDecoderMaxMemory(2*MaxText))
	return codec{enc, dec}, err
})

// pack compresses a text into its head and its rest; for most texts rest is nil.
func pack(text string) (head, rest []byte, err error) {
	c, err := codecs()
	if err != nil {
		return nil, nil, fmt.Errorf("zstd: %w", err)
	}
	h := analysis.Truncate(text, headSize)
	head = c.enc.EncodeAll([]byte(h), []byte{}) // never nil, which would be NULL
	if len(h) < len(text) {
		rest = c.enc.EncodeAll([]byte(text[len(h):]), nil)
	}
	return head, rest, nil
}

// unpack is the text of the given parts, concatenated.
func unpack(parts ...[]byte) (string, error) {
	c, err := codecs()
	if err != nil {
		return "", fmt.Errorf("zstd: %w", err)
	}
	buffer := texts.Get().(*[]byte)
	defer texts.Put(buffer)
	text := (*buffer)[:0]
	for _, p := range parts {
		if len(p) == 0 {
			continue
		}
		if text, err = c.dec.DecodeAll(p, text); err != nil {
			return "", fmt.Errorf("%w: stored text: %w", ErrCorrupt, err)
		}
	}
	if cap(text) <= 2*headSize { // do not keep a long one
		*buffer = text
	}
	return string(text), nil
}

// texts are buffers for decompression.
var texts = sync.Pool{New: func() any { b := make([]byte, 0, headSize); return &b }}
