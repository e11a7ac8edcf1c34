package export

import (
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
// one a line. No pair is missed and none is written that is not as similar ([sketch.Bands]).
//
// Documents are numbered from 0 in the order in which they are added, which is that of their
// URLs. For each band of a sketch, a Sorter gets a record; documents that agree in a band are
// then neighbours, and are compared with each other. A second Sorter orders the pairs. Files
// keep the sketches and the URLs.
//
// Memory holds the buffers of the sorters, a block of sketches, and the numbers of the
// documents that agree in one band: 4 bytes for each. Where many documents are alike, there
// are as many pairs as half of their number squared, in time and in the output.
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

// DefaultThreshold is the similarity of pairs unless something else is asked for.
const DefaultThreshold = 0.8

// LeastThreshold is the lowest threshold. Below it, sketches of unrelated texts share
// bands, and so many pairs are due to chance that the result is useless.
const LeastThreshold = 0.5

const (
	keptSize  = sketch.Size + 12   // and the place of the URL: offset and length
	keySize   = 1 + 8 + 4          // of a record of keys
	blockSize = 16 << 10           // sketches that are in memory at a time: 4 MiB
	maxDocs   = math.MaxUint32 - 1 // what a record can number
)

// NewSimilar returns a collector that uses up to the given memory for each of its two
// sorters (0: the default of Sorter) and temporary files in dir. The caller closes it.
func NewSimilar(dir string, limit int, least float64) (_ *Similar, err error) {
	if !(least >= LeastThreshold && least <= 1) {
		return nil, fmt.Errorf("similar pairs: a threshold of %v is not from %v to 1", least, LeastThreshold)
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
	if err != nil {
		return fmt.Errorf("similar pairs: write to a temporary file: %w", err)
	}
	return nil
}

// WriteTo writes the pairs, ordered by their URLs, and returns their number.
func (s *Similar) WriteTo(ctx context.Context, w io.Writer) (n int, err error) {
	for _, f := range []*scratch{s.kept, s.urls} {
		if err := f.flush(); err != nil {
			return 0, fmt.Errorf("similar pairs: write to a temporary file: %w", err)
		}
	}
	if err := s.find(ctx); err != nil {
		return 0, err
	}
	out := NewJSONL[Pair](w)
	var pair Pair
	last := uint32(maxDocs + 1)
	err = s.pairs.Sorted(func(record []byte) error {
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
		if string(record[:len(key)]) != string(key[:]) {
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

// compareAll compares documents that agree in a band with each other: those of a block,
// which is in memory, with all that follow.
func (s *Similar) compareAll(ctx context.Context, band int, docs []uint32) error {
	if len(docs) < 2 {
		return nil
	}
	block := make([]sketch.Sketch, min(len(docs), blockSize))
	for len(docs) > 0 {
		n := min(len(docs), blockSize)
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.sketch(docs[i], &block[i]); err != nil {
				return err
			}
			for j := range i {
				if err := s.compare(band, docs[j], docs[i], &block[j], &block[i]); err != nil {
					return err
				}
			}
		}
		for _, doc := range docs[n:] {
			if err := ctx.Err(); err != nil {
				return err
			}
			var other sketch.Sketch
			if err := s.sketch(doc, &other); err != nil {
				return err
			}
			for j := range n {
				if err := s.compare(band, docs[j], doc, &block[j], &other); err != nil {
					return err
				}
			}
		}
		docs = docs[n:]
	}
	return nil
}

// compare adds two documents, the first of which has the lower number, if they are a pair.
// A pair that agrees in several bands is added in the first of them only.
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

// readKept reads what is kept of a document.
func (s *Similar) readKept(doc uint32) ([]byte, error) {
	if _, err := s.kept.file.ReadAt(s.read[:], int64(doc)*keptSize); err != nil {
		return nil, fmt.Errorf("similar pairs: read a temporary file back: %w", noEOF(err))
	}
	return s.read[:], nil
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
	if _, err := s.urls.file.ReadAt(u, int64(binary.LittleEndian.Uint64(kept[sketch.Size:]))); err != nil {
		return "", fmt.Errorf("similar pairs: read a temporary file back: %w", noEOF(err))
	}
	return page.URL(u), nil
}

// Close releases memory and files.
func (s *Similar) Close() error {
	return errors.Join(s.keys.Close(), s.pairs.Close(), s.kept.close(), s.urls.close())
}
