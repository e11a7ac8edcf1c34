package observers_test

import (
	"context"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/webtest"
)

// output is where documents go: to memory, or to index files.
type output struct {
	sink      observers.Sink
	documents func() ([]*index.Document, error)
	close     func()
}

func (s schedule) openOutput(ctx context.Context) (output, error) {
	if !s.files {
		sink := webtest.NewSink()
		return output{sink, func() ([]*index.Document, error) { return sink.Documents(), nil }, func() {}}, nil
	}
	dir, err := os.MkdirTemp("", "observers-*")
	if err != nil {
		return output{}, err
	}
	files := filepath.Join(dir, "index") // the mark is beside it
	w, err := index.OpenWriter(ctx, files, index.WriterOptions{})
	if err != nil {
		return output{}, err
	}
	return output{
		sink:      w,
		documents: func() ([]*index.Document, error) { return readIndex(ctx, files) },
		close: func() {
			_ = w.Close()         // its documents have been read already
			_ = os.RemoveAll(dir) // a temporary directory
		},
	}, nil
}

func readIndex(ctx context.Context, dir string) (docs []*index.Document, err error) {
	r, err := index.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.Check(ctx); err != nil {
		return nil, err
	}
	err = r.Documents(ctx, func(d index.Document) error {
		docs = append(docs, &d)
		return nil
	})
	return docs, err
}
