package export

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// Similar finds all pairs of documents whose sketches are similar, and writes them as JSON,
// one per line. It misses no pair, and writes none that is less similar ([sketch.Bands]).
//
// Documents are numbered from 0 in the order in which they are added, which is that of their
// URLs. A Sorter gets a record for each band of a sketch. Then documents that agree in a band
// are neighbours, and are compared with each other. A second Sorter orders the pairs. Files
// keep the sketches and the URLs.
//
// Memory holds the buffers of the sorters, a block of sketches, and the numbers of the
// documents that agree in one band, 4 bytes for each. If n documents are similar to each
// other, they form about n²/2 pairs, and both time and output grow with that number.
type Similar struct {
	least float64
	bands sketch.Bands
	docs  uint32
	keys  *Sorter // band, hash, document
	pairs *Sorter // document, document, similarity
	kept  *scratch
	urls  *scratch
	read  [keptSize]byte
}

// DefaultThreshold is the default for the lowest similarity of a pair.
const DefaultThreshold = 0.8

// LeastThreshold is the lowest threshold. Below it, sketches of unrelated texts share
// bands, and so many pairs are due to chance that the result is useless.
const LeastThreshold = 0.5

const (
	keptSize  = sketch.Size + 12   // a sketch, and the place of the URL: offset and length
	keySize   = 1 + 8 + 4          // of a record of keys
	blockSize = 16 << 10           // sketches in memory at a time: 4 MiB
	maxDocs   = math.MaxUint32 - 1 // as many as a record can number
)

// NewSimilar returns a collector of pairs with at least the given similarity. It uses up to
// limit bytes of memory for each of its two sorters (0: the default of Sorter) and temporary
// files in dir. The caller closes it.
func NewSimilar(dir string, limit int, least float64) (_ *Similar, err error) {
	if !(least >= LeastThreshold && least <= 1) {
		return nil, fmt.Errorf("similar pairs: the threshold %v is not between %v and 1", least, LeastThreshold)
	}
	s := &Similar{least: least, bands: sketch.BandsFor(least), keys: NewSorter(dir, limit), pairs: NewSorter(dir, limit)}
	if s.kept, err = newScratch(dir); err != nil {
		return nil, err
	}
	if s.urls, err = newScratch(dir); err != nil {
		return nil, errors.Join(err, s.kept.close())
	}
	return s, nil
}

// Add adds a document. URLs ascend.
func (s *Similar) Add(u page.URL, k *sketch.Sketch) error {
	if s.docs == maxDocs {
		return fmt.Errorf("similar pairs: more than %d documents", uint32(maxDocs))
	}
	var record [keySize]byte
	for band := range s.bands.Count() {
		key, ok := s.bands.Key(k, band)
		if !ok {
			continue
		}
		record[0] = byte(band)
		binary.BigEndian.PutUint64(record[1:], key)
		binary.BigEndian.PutUint32(record[9:], s.docs)
		if err := s.keys.Add(record[:]); err != nil {
			return err
		}
	}
	s.docs++
	kept := append(make([]byte, 0, keptSize), k[:]...)
	kept = binary.LittleEndian.AppendUint64(kept, uint64(s.urls.size))
	kept = binary.LittleEndian.AppendUint32(kept, uint32(len(u)))
	_, err := s.kept.Write(kept)
	if err == nil {
		_, err = s.urls.Write([]byte(u))
	}
	return err
}

// WriteTo writes the pairs, ordered by their URLs, and returns their number.
func (s *Similar) WriteTo(ctx context.Context, w io.Writer) (n int, err error) {
	for _, f := range []*scratch{s.kept, s.urls} {
		if err := f.flush(); err != nil {
			return 0, err
		}
	}
	if err := s.find(ctx); err != nil {
		return 0, err
	}
	out := NewJSONL[Pair](w)
	var pair Pair
	last := uint32(maxDocs + 1) // it means no document
	err = s.pairs.Sorted(func(record []byte) (err error) {
		a, b := binary.BigEndian.Uint32(record), binary.BigEndian.Uint32(record[4:])
		if a != last {
			if pair.URL, err = s.url(a); err != nil {
				return err
			}
			last = a
		}
		if pair.Other, err = s.url(b); err != nil {
			return err
		}
		pair.Similarity = math.Float64frombits(binary.BigEndian.Uint64(record[8:]))
		n++
		return out.Write(&pair)
	})
	if err != nil {
		return n, err
	}
	return n, out.Close()
}

// find compares the documents that agree in a band.
func (s *Similar) find(ctx context.Context) error {
	var key [keySize - 4]byte
	var docs []uint32
	err := s.keys.Sorted(func(record []byte) error {
		if !bytes.Equal(record[:len(key)], key[:]) {
			if err := s.compareAll(ctx, int(key[0]), docs); err != nil {
				return err
			}
			docs = docs[:0]
			copy(key[:], record)
		}
		docs = append(docs, binary.BigEndian.Uint32(record[len(key):]))
		return nil
	})
	if err != nil {
		return err
	}
	return s.compareAll(ctx, int(key[0]), docs)
}

// compareAll compares documents that agree in a band with each other. It compares those
// of a block, whose sketches are in memory, with all that follow them.
func (s *Similar) compareAll(ctx context.Context, band int, docs []uint32) error {
	if len(docs) < 2 {
		return nil
	}
	block := make([]sketch.Sketch, min(len(docs), blockSize))
	var beyond sketch.Sketch // of a document after the block
	for len(docs) > 0 {
		n := min(len(docs), blockSize)
		for i, doc := range docs {
			if err := ctx.Err(); err != nil {
				return err
			}
			this := &beyond
			if i < n {
				this = &block[i]
			}
			if err := s.sketch(doc, this); err != nil {
				return err
			}
			for j := range min(i, n) {
				if err := s.compare(band, docs[j], doc, &block[j], this); err != nil {
					return err
				}
			}
		}
		docs = docs[n:]
	}
	return nil
}

// compare adds two documents, the first of which has the lower number, if they are a pair.
// If they agree in several bands, it adds them only in the first.
func (s *Similar) compare(band int, a, b uint32, x, y *sketch.Sketch) error {
	if !sketch.Similar(x, y, s.least) || s.bands.First(x, y) != band {
		return nil
	}
	var record [16]byte
	binary.BigEndian.PutUint32(record[:], a)
	binary.BigEndian.PutUint32(record[4:], b)
	binary.BigEndian.PutUint64(record[8:], math.Float64bits(sketch.Similarity(x, y)))
	return s.pairs.Add(record[:])
}

// readKept reads what is kept of a document. The result is valid until the next call.
func (s *Similar) readKept(doc uint32) ([]byte, error) {
	err := s.kept.read(s.read[:], int64(doc)*keptSize)
	return s.read[:], err
}

func (s *Similar) sketch(doc uint32, k *sketch.Sketch) error {
	kept, err := s.readKept(doc)
	copy(k[:], kept)
	return err
}

func (s *Similar) url(doc uint32) (page.URL, error) {
	kept, err := s.readKept(doc)
	if err != nil {
		return "", err
	}
	u := make([]byte, binary.LittleEndian.Uint32(kept[sketch.Size+8:]))
	err = s.urls.read(u, int64(binary.LittleEndian.Uint64(kept[sketch.Size:])))
	return page.URL(u), err
}

// Close releases memory and files.
func (s *Similar) Close() error {
	return errors.Join(s.keys.Close(), s.pairs.Close(), s.kept.close(), s.urls.close())
}
