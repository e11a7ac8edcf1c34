package warc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxZstdWindow bounds the memory of a zstd decoder: the window of `zstd --long`.
	maxZstdWindow = 128 << 20
	// maxZstdDict bounds a dictionary, both compressed and uncompressed.
	maxZstdDict = 16 << 20
	// zstdDictMagic is the skippable frame that holds the dictionary of a file
	// (IIPC "WARC Zstandard compression" section 3).
	zstdDictMagic = 0xd
)

// zstdFrames reads the zstd frames of a file one at a time.
type zstdFrames struct {
	dec   *zstd.Decoder
	dict  []byte
	frame zstdFrame
}

// open begins the frame at br's position. The reader it returns gives io.EOF after the
// frame's last byte, and leaves br there.
func (z *zstdFrames) open(br *bufio.Reader) (io.Reader, error) {
	head, _ := br.Peek(zstd.HeaderMaxSize)
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return nil, err
	}
	z.frame = zstdFrame{br: br, left: h.HeaderSize, checksum: h.HasCheckSum}
	if err := z.reset(&z.frame); err != nil {
		return nil, err
	}
	return z.dec, nil
}

// reset makes the decoder read from r.
func (z *zstdFrames) reset(r io.Reader) (err error) {
	if z.dec == nil {
		if z.dec, err = z.newDecoder(); err != nil {
			return err
		}
	}
	return z.dec.Reset(r)
}

// beginsRecord reports whether the frame at br's position begins with a record. It consumes nothing.
func (z *zstdFrames) beginsRecord(br *bufio.Reader) bool {
	b, _ := br.Peek(sourceBuffer) // the decoder needs a whole block
	if z.reset(bytes.NewReader(b)) != nil {
		return false
	}
	var first [len(version)]byte
	n, _ := io.ReadFull(z.dec, first[:])
	return hasVersion(first[:n])
}

func (z *zstdFrames) newDecoder() (*zstd.Decoder, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow)}
	switch {
	case bytes.HasPrefix(z.dict, []byte{0x37, 0xa4, 0x30, 0xec}):
		opts = append(opts, zstd.WithDecoderDicts(z.dict))
	case z.dict != nil:
		opts = append(opts, zstd.WithDecoderDictRaw(0, z.dict))
	}
	return zstd.NewReader(nil, opts...)
}

// skip skips the skippable frame at br's position. At the beginning of a file, the only
// place for a dictionary, it reads the frame of a dictionary.
func (z *zstdFrames) skip(br *bufio.Reader, first bool) error {
	head, err := br.Peek(8)
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	isDict := first && head[0]&0x0f == zstdDictMagic
	if _, err = br.Discard(8); err != nil {
		return err
	}
	if !isDict {
		if _, err = io.CopyN(io.Discard, br, size); errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if size > maxZstdDict {
		return fmt.Errorf("zstd dictionary of %d bytes is over the limit of %d", size, maxZstdDict)
	}
	z.dict, err = readDict(io.LimitReader(br, size), size)
	return err
}

// readDict reads a dictionary, which may be a zstd frame itself.
func readDict(r io.Reader, size int64) ([]byte, error) {
	dict, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if int64(len(dict)) < size {
		return nil, io.ErrUnexpectedEOF
	}
	if sniff(dict) != kindZstd {
		return dict, nil
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxZstdDict))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	dict, err = dec.DecodeAll(dict, nil)
	if err != nil {
		return nil, fmt.Errorf("zstd dictionary: %w", err)
	}
	return dict, nil
}

func (z *zstdFrames) close() {
	if z.dec != nil {
		z.dec.Close()
		z.dec = nil
	}
}

// zstdFrame returns the bytes of one frame and then io.EOF, by following the block headers
// (RFC 8878 section 3.1.1). The decoder alone would join adjacent frames.
type zstdFrame struct {
	br       *bufio.Reader
	left     int // bytes of the current piece
	checksum bool
	last     bool // the current piece is the frame's last
}

func (f *zstdFrame) Read(p []byte) (int, error) {
	if f.left == 0 {
		if err := f.nextPiece(); err != nil {
			return 0, err
		}
	}
	if len(p) > f.left {
		p = p[:f.left]
	}
	n, err := f.br.Read(p)
	f.left -= n
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (f *zstdFrame) nextPiece() error {
	if f.last {
		if f.checksum {
			f.checksum, f.left = false, 4
			return nil
		}
		return io.EOF
	}
	head, err := f.br.Peek(3)
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	bits := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	size := bits >> 3
	if bits>>1&3 == 1 { // run-length block: one byte, repeated size times
		size = 1
	}
	f.last = bits&1 == 1
	f.left = 3 + size
	return nil
}
