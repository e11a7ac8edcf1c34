// Package tablefile checks Badger's table files.
//
// Badger trusts the end of a table file. It reads lengths from there and slices its
// memory map with them, in a goroutine of its own, so a file that was cut, or a bit that
// flipped there, ends the process with a panic that nothing can recover. A bad block is
// no better: Table.VerifyChecksum uses the block that it just failed to read. So table
// files are checked before Badger opens them, and the error names the file.
//
// The layout of badger v4 (table/builder.go, Done and finishBlock):
//
//	file   blocks | index | length of the index | checksum of it | length of the checksum
//	block  compressed: entries | their offsets | how many | checksum | length of the checksum
//
// Lengths are 4 bytes, big-endian. Checksums are protocol buffers. The index says where
// each block is. The checksum covers it, so the index can be trusted once the checksum
// matches.
package tablefile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/klauspost/compress/snappy"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
)

const (
	lengthBytes  = 4        // bytes of a length
	checksumMost = 64       // more bytes than a checksum has
	indexLeast   = 8        // bytes of an index: an empty one has the checksum of nothing
	blockMost    = 64 << 20 // a block is about 4 KiB, or holds one large value
)

// CheckListed checks the whole files of all tables that the MANIFEST lists. It may run while
// Badger does.
func CheckListed(ctx context.Context, dir string) error {
	m, err := manifest.Read(dir)
	if err != nil {
		return err
	}
	files, ctx := errgroup.WithContext(ctx)
	files.SetLimit(runtime.GOMAXPROCS(0))
	for id, compression := range m.Tables {
		files.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, err := Check(Path(dir, id), compression, Whole)
			if err == nil {
				return nil
			}
			// A compaction takes tables off the list first and then cuts and removes
			// their files.
			if now, nerr := manifest.Read(dir); nerr == nil && !now.Lists(id) {
				return nil
			}
			return err
		})
	}
	return files.Wait()
}

// Path is the file of a table, by its number, in the directory dir.
func Path(dir string, id uint64) string {
	return table.NewFilename(id, filepath.Join(dir, dirfile.Badger))
}

// Extent is how much of a table file is checked.
type Extent bool

const (
	// Ends are what Badger reads when it opens a table: the lengths at the end, the
	// index, and the last block.
	Ends Extent = false
	// Whole is everything.
	Whole Extent = true
)

// Check checks a table file, and returns the greatest number of a group of writes in it. The
// error of a damaged file matches store.ErrCorrupt.
func Check(file string, compression options.CompressionType, extent Extent) (group uint64, err error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errs.Corrupt(file, "the table file is missing")
	}
	if err != nil {
		return 0, errs.File(err)
	}
	defer f.Close()
	index, err := readIndex(f)
	if err == nil {
		from := 0
		if extent == Ends {
			from = index.OffsetsLength() - 1
		}
		err = checkBlocks(f, index, from, compression)
	}
	if damage, ok := errors.AsType[damage](err); ok {
		return 0, errs.Corrupt(file, "%s", string(damage))
	}
	if err != nil {
		return 0, errs.File(fmt.Errorf("reading %s: %w", file, err))
	}
	return index.MaxVersion(), nil
}

// Keys returns the number of keys in a table file.
func Keys(file string) (uint64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, errs.File(err)
	}
	defer f.Close()
	index, err := readIndex(f)
	if err != nil {
		return 0, errs.File(fmt.Errorf("reading %s: %w", file, err))
	}
	return uint64(index.KeyCount()), nil
}

// damage is what is wrong with a table file, as opposed to not being able to read it.
type damage string

func (d damage) Error() string { return string(d) }

func damaged(format string, args ...any) error { return damage(fmt.Sprintf(format, args...)) }

// readIndex reads the end of a table file and the index, and compares the checksum.
func readIndex(f *os.File) (*fb.TableIndex, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	end := info.Size()
	sum := &pb.Checksum{}
	text, end, err := readBefore(f, end, checksumMost)
	if err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(text, sum); err != nil {
		return nil, damaged("the checksum of its index cannot be read")
	}
	text, _, err = readBefore(f, end, end)
	switch {
	case err != nil:
		return nil, err
	case len(text) < indexLeast || sumOf(text, sum) != nil:
		return nil, damaged("the checksum of its index is wrong")
	}
	index := fb.GetRootAsTableIndex(text, 0)
	if index.OffsetsLength() == 0 {
		return nil, damaged("its index is empty")
	}
	return index, nil
}

// readBefore reads what ends at some byte of a table file: first its length, which is the
// last thing there, and then as many bytes before that.
func readBefore(f *os.File, end, most int64) (text []byte, start int64, err error) {
	var length [lengthBytes]byte
	if end < lengthBytes {
		return nil, 0, damaged("it has been cut, or its end is damaged")
	}
	end -= lengthBytes
	if _, err := f.ReadAt(length[:], end); err != nil {
		return nil, 0, err
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	if n > min(end, most) {
		return nil, 0, damaged("it has been cut, or its end is damaged")
	}
	text = make([]byte, n)
	_, err = f.ReadAt(text, end-n)
	return text, end - n, err
}

func sumOf(text []byte, sum *pb.Checksum) error {
	if a := sum.GetAlgo(); a != pb.Checksum_CRC32C && a != pb.Checksum_XXHash64 {
		return damaged("a checksum of an unknown kind") // y panics
	}
	return y.VerifyChecksum(text, sum)
}

// checkBlocks reads the blocks of a table file, beginning with block from.
func checkBlocks(f *os.File, index *fb.TableIndex, from int, compression options.CompressionType) error {
	var (
		bo         fb.BlockOffset
		text, room []byte
	)
	if !index.Offsets(&bo, from) {
		return damaged("its index is not in order")
	}
	at := int64(bo.Offset())
	r := bufio.NewReaderSize(io.NewSectionReader(f, at, 1<<62-at), 256<<10)
	for i := from; i < index.OffsetsLength(); i++ {
		if !index.Offsets(&bo, i) || int64(bo.Offset()) < at {
			return damaged("its index is not in order")
		}
		if _, err := r.Discard(int(int64(bo.Offset()) - at)); err != nil {
			return short(err)
		}
		text = slices.Grow(text[:0], int(bo.Len()))[:bo.Len()]
		if _, err := io.ReadFull(r, text); err != nil {
			return short(err)
		}
		at = int64(bo.Offset()) + int64(bo.Len())
		plain, err := unpack(room, text, compression)
		if err != nil || checkBlock(plain) != nil {
			return damaged("the block at byte %d is damaged", bo.Offset())
		}
		if compression != options.None {
			room = plain[:cap(plain)]
		}
	}
	return nil
}

func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("it has been cut")
	}
	return err
}

// unpack decompresses a block, into room if there is enough.
func unpack(room, text []byte, compression options.CompressionType) ([]byte, error) {
	switch compression {
	case options.None:
		return text, nil
	case options.Snappy:
		if n, err := snappy.DecodedLen(text); err != nil || n > blockMost {
			return nil, damaged("a block of %d bytes", n)
		}
		return snappy.Decode(room, text)
	case options.ZSTD:
		return y.ZSTDDecompress(room[:0], text)
	}
	return nil, damaged("an unknown compression")
}

// checkBlock compares the checksum of a block.
func checkBlock(b []byte) error {
	end := len(b) - lengthBytes
	if end < lengthBytes {
		return io.ErrUnexpectedEOF
	}
	n := binary.BigEndian.Uint32(b[end:])
	if int64(n) > int64(end-lengthBytes) {
		return io.ErrUnexpectedEOF
	}
	sum := &pb.Checksum{}
	if err := proto.Unmarshal(b[end-int(n):end], sum); err != nil {
		return err
	}
	return sumOf(b[:end-int(n)], sum)
}
