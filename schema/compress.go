package schema

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"indexer/store"
)

// maxUnpacked bounds what one stored value may unpack to, in bytes.
const maxUnpacked = 256 << 20

// The coders keep no state between calls, so all goroutines share them.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(4))
		if err != nil {
			panic(err) // only for invalid options
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderConcurrency(4))
		if err != nil {
			panic(err) // only for invalid options
		}
		return d
	})
)

func pack(b []byte) []byte {
	return packer().EncodeAll(b, make([]byte, 0, len(b)/3+64))
}

func unpack(b []byte, what string) ([]byte, error) {
	u, err := unpacker().DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("schema: unpack stored %s: %w: %w", what, store.ErrCorrupt, err)
	}
	return u, nil
}
