package observers

import (
	"context"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// The store keeps the sum over all documents of index:doc, to compare it with that of the
// index files when a repository is opened (repository/catchup.go). A scan of a million
// documents would take seconds after each kill.
//
// Every transaction that changes index:doc adds to the sum. If all of them wrote one cell,
// each would conflict with every other. So each writes its addend to its own row
// (schema.IndexSumRow), and one in sumFold of them moves such rows into app:index-sum. The
// sum of a snapshot is that cell plus these rows. It is exact: two transactions that change
// one document conflict there, so each has read the version that it replaces.
//
// Two transactions that move rows at the same time conflict, and one of them runs again.
// That is rare.
//
// A version that does not know this sum changes index:doc and leaves the sum as it is. Then
// the two sides differ at the next opening, and a scan corrects the sum.
//
// A shared table has no sum: a process that takes over the index files compares all
// documents anyway.

const (
	sumFold  = 128 // one in this many transactions moves rows
	sumMoved = 512 // it moves at most this many rows
)

// indexSum is what a transaction adds to the sum.
type indexSum schema.StoredIndexSum

func (s *indexSum) add(key page.ContentKey, digest [8]byte) {
	s.Documents++
	s.Sum += uint64(sumOf(key, digest))
}

func (s *indexSum) remove(key page.ContentKey, digest [8]byte) {
	s.Documents--
	s.Sum -= uint64(sumOf(key, digest))
}

func sumOf(key page.ContentKey, digest [8]byte) (s index.Sum) {
	s.Add(key, digest)
	return s
}

// replaces subtracts what index:doc now has of a cluster.
func (s *indexSum) replaces(ctx context.Context, tx *txn.Txn, key page.ContentKey) error {
	v, err := tx.Get(ctx, schema.ClusterRow(key), schema.Indexed)
	if err != nil || !v.Exists {
		return err
	}
	d, err := schema.DecodeIndexed(v.Data)
	if err == nil {
		s.remove(key, d.Sum)
	}
	return err
}

// write writes what the transaction adds.
func (s *indexSum) write(ctx context.Context, tx *txn.Txn) error {
	if *s == (indexSum{}) {
		return nil
	}
	if tx.Start()%sumFold == 0 {
		if err := foldIndexSum(ctx, tx); err != nil {
			return err
		}
	}
	tx.Set(schema.IndexSumRow(tx.Start()), schema.IndexSumPart, schema.StoredIndexSum(*s).Encode())
	return nil
}

// foldIndexSum moves rows into app:index-sum, if that exists.
func foldIndexSum(ctx context.Context, tx *txn.Txn) error {
	v, err := tx.Get(ctx, schema.AppRow, schema.IndexSum)
	if err != nil || !v.Exists {
		return err
	}
	sum, err := schema.DecodeIndexSum(v.Data)
	if err != nil {
		return err
	}
	moved := 0
	err = eachSumPart(ctx, tx, func(row string, part schema.StoredIndexSum) error {
		if moved == sumMoved {
			return txn.ErrStop
		}
		moved++
		sum.Documents, sum.Sum = sum.Documents+part.Documents, sum.Sum+part.Sum
		tx.Delete(row, schema.IndexSumPart)
		return nil
	})
	if err != nil {
		return err
	}
	if moved > 0 {
		tx.Set(schema.AppRow, schema.IndexSum, sum.Encode())
	}
	return nil
}

func eachSumPart(ctx context.Context, tx *txn.Txn, fn func(row string, part schema.StoredIndexSum) error) error {
	return tx.ScanPrefix(ctx, schema.GroupApp, schema.IndexSumPrefix, func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name != schema.IndexSumPart.Name {
				continue
			}
			part, err := schema.DecodeIndexSum(c.Data)
			if err != nil {
				return err
			}
			return fn(row, part)
		}
		return nil
	})
}

// ReadIndexSum returns the number of documents and the sum that are stored at a snapshot;
// kept is false if none are.
func ReadIndexSum(ctx context.Context, tx *txn.Txn) (s index.State, kept bool, err error) {
	v, err := tx.Get(ctx, schema.AppRow, schema.IndexSum)
	if err != nil || !v.Exists {
		return s, false, err
	}
	sum, err := schema.DecodeIndexSum(v.Data)
	if err != nil {
		return s, false, err
	}
	err = eachSumPart(ctx, tx, func(_ string, part schema.StoredIndexSum) error {
		sum.Documents, sum.Sum = sum.Documents+part.Documents, sum.Sum+part.Sum
		return nil
	})
	return index.State{Documents: sum.Documents, Sum: index.Sum(sum.Sum)}, true, err
}

// SetIndexSum stores a sum that a scan has computed. No observer may have run since the
// snapshot of the scan.
func SetIndexSum(ctx context.Context, tx *txn.Txn, s index.State) error {
	err := eachSumPart(ctx, tx, func(row string, _ schema.StoredIndexSum) error {
		tx.Delete(row, schema.IndexSumPart)
		return nil
	})
	if err != nil {
		return err
	}
	tx.Set(schema.AppRow, schema.IndexSum, schema.StoredIndexSum{Documents: s.Documents, Sum: uint64(s.Sum)}.Encode())
	return nil
}
