package badgerdb

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// withSum appends a checksum to a part of a file. The checksum covers everything before it in the
// file except earlier checksums. before is the checksum of the previous part, or 0 for the first
// part.
func withSum(part []byte, before uint32) []byte {
	return binary.BigEndian.AppendUint32(part, crc32.Update(before, castagnoli, part))
}

// partReader reads a file of parts, each with a checksum after it (withSum). When the file ends too
// early, it has failed, and everything that it reads is zero.
type partReader struct {
	rest   []byte
	part   []byte // what was read since the last checksum
	sum    uint32 // the last checksum
	failed bool
}

func (r *partReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.rest, r.failed = nil, true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	if len(r.part) == 0 {
		r.part = taken
	} else {
		r.part = r.part[:len(r.part)+n]
	}
	return taken
}

func (r *partReader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *partReader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// endPart reads a checksum, and reports whether it matches what was read before it.
func (r *partReader) endPart() bool {
	want := crc32.Update(r.sum, castagnoli, r.part)
	r.sum = r.uint32()
	r.part = nil
	return !r.failed && r.sum == want
}
