package schema

import (
	"bytes"
	"crypto/sha256"
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

// buffers holds what is needed only while a value is encoded or decoded, for the next value.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keptBuffer bounds the buffers that are kept.
const keptBuffer = 1 << 20

// inBuffer calls use with an empty buffer, and keeps what it returns for the next call. use
// must keep nothing of it.
func inBuffer(use func(empty []byte) (filled []byte)) {
	b := buffers.Get().(*[]byte)
	if filled := use((*b)[:0]); cap(filled) <= keptBuffer {
		*b = filled
	}
	buffers.Put(b)
}

// pack compresses a value. The result has no spare room, because it may stay in memory for
// some time.
func pack(b []byte) (packed []byte) {
	inBuffer(func(empty []byte) []byte {
		filled := packer().EncodeAll(b, empty)
		packed = bytes.Clone(filled)
		return filled
	})
	return packed
}

// packBuilt compresses what build appends to e.
func packBuilt(build func(e enc) enc) (packed []byte) {
	inBuffer(func(empty []byte) []byte {
		filled := build(empty)
		packed = pack(filled)
		return filled
	})
	return packed
}

// sumBuilt returns the SHA-256 of what build appends to e.
func sumBuilt(build func(e enc) enc) (sum [sha256.Size]byte) {
	inBuffer(func(empty []byte) []byte {
		filled := build(empty)
		sum = sha256.Sum256(filled)
		return filled
	})
	return sum
}

func unpack(b []byte, what string) ([]byte, error) {
	return unpackTo(nil, b, what)
}

func unpackTo(empty, b []byte, what string) ([]byte, error) {
	u, err := unpacker().DecodeAll(b, empty)
	if err != nil {
		return nil, fmt.Errorf("schema: unpack stored %s: %w: %w", what, store.ErrCorrupt, err)
	}
	return u, nil
}

// readUnpacked decompresses a value and calls read with it, which must keep nothing of it.
func readUnpacked(b []byte, what string, read func(d dec) error) (err error) {
	inBuffer(func(empty []byte) []byte {
		var u []byte
		if u, err = unpackTo(empty, b, what); err != nil {
			return empty
		}
		err = read(newDec(u))
		return u
	})
	return err
}
