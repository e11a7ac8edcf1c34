package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/webindexer/indexer/store"
)

// maxUnpacked bounds the unpacked size of a stored value, in bytes.
const maxUnpacked = 256 << 20

// A compressed value is an S2 block after a byte that says so and a checksum:
//
//	[1][CRC-32C of the block, 4, little-endian][block]
//
// S2 takes 40 % of the processor time of zstd, and a third more bytes: see
// docs/decisions/0022-s2.md. Values of earlier versions are zstd frames. These begin with
// their magic number, 28 B5 2F FD, and are still read; nothing rewrites them.
const (
	formatS2  = 1
	s2Header  = 1 + crc32.Size
	zstdMagic = 0x28 // the first byte of it
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// unzstd reads values of earlier versions. It keeps no state between calls, so all goroutines
// can share it.
var unzstd = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderConcurrency(4))
	if err != nil {
		panic(err) // only for invalid options
	}
	return d
})

// buffers holds what is needed only while a value is encoded or decoded, for the next value.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keptBuffer bounds the buffers that are kept.
const keptBuffer = 1 << 20

// inBuffer calls use with an empty buffer, and keeps the buffer that use returns for the
// next call. use must not keep any of it.
func inBuffer(use func(empty []byte) (filled []byte)) {
	b := buffers.Get().(*[]byte)
	if filled := use((*b)[:0]); cap(filled) <= keptBuffer {
		*b = filled
	}
	buffers.Put(b)
}

// CheckSize returns an error that matches store.ErrTooLarge if a value of n bytes, such as a body,
// could be stored but not read again.
func CheckSize(n int) error {
	if n > maxUnpacked {
		return fmt.Errorf("schema: value of %d bytes, and at most %d can be read again: %w", n, maxUnpacked, store.ErrTooLarge)
	}
	return nil
}

// pack compresses a value. The result has no spare room, because it may stay in memory for
// some time.
func pack(b []byte) (packed []byte) {
	inBuffer(func(empty []byte) []byte {
		block := s2.Encode(empty[:cap(empty)], b)
		packed = make([]byte, s2Header+len(block))
		packed[0] = formatS2
		binary.LittleEndian.PutUint32(packed[1:], crc32.Checksum(block, castagnoli))
		copy(packed[s2Header:], block)
		return block
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

func unpackTo(empty, b []byte, what string) (u []byte, err error) {
	if len(b) > 0 && b[0] == zstdMagic {
		u, err = unzstd().DecodeAll(b, empty)
	} else {
		u, err = unS2(empty, b)
	}
	if err != nil {
		return nil, fmt.Errorf("schema: unpack stored %s: %w: %w", what, store.ErrCorrupt, err)
	}
	return u, nil
}

var errPacked = errors.New("unknown format or wrong checksum")

// unS2 checks the block before it allocates anything.
func unS2(empty, b []byte) ([]byte, error) {
	if len(b) < s2Header || b[0] != formatS2 || binary.LittleEndian.Uint32(b[1:]) != crc32.Checksum(b[s2Header:], castagnoli) {
		return nil, errPacked
	}
	if n, err := s2.DecodedLen(b[s2Header:]); err != nil || n > maxUnpacked {
		return nil, cmp.Or(err, s2.ErrTooLarge)
	}
	return s2.Decode(empty[:cap(empty)], b[s2Header:])
}

// readUnpacked decompresses a value and calls read with it. read must not keep any of it.
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
