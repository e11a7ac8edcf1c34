package convert

import (
	"context"
	"fmt"
	"io"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/webindexer/indexer/pdf"
)

// Engine converts documents, one at a time.
type Engine struct{ pool pdfium.Pool }

// Start compiles PDFium, which takes some seconds of processor time and 300 MB.
func Start(ctx context.Context) (*Engine, error) {
	pool, err := webassembly.Init(webassembly.Config{
		Context:  ctx,
		MaxIdle:  1,
		MaxTotal: 1,
		FSConfig: wazero.NewFSConfig(), // no files
		Stdout:   io.Discard, Stderr: io.Discard,
		RandomSource: zeros{},
		RuntimeConfig: wazero.NewRuntimeConfig().
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
			WithMemoryLimitPages(maxMemory),
	})
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	return &Engine{pool}, nil
}

// Close ends the engine.
func (e *Engine) Close() error { return e.pool.Close() }

// Serve is the work of a child of a pdf.Reader.
func Serve(ctx context.Context, parent io.Reader, answers io.Writer) error {
	return pdf.Serve(parent, answers, func() (pdf.Converter, error) {
		e, err := Start(ctx)
		if err != nil {
			return nil, err
		}
		return func(body []byte) ([]byte, error) { return e.HTML(ctx, body) }, nil // it ends with the process
	})
}

// HTML returns a document as HTML in UTF-8. The errors that wrap ErrEncrypted, ErrDamaged or
// ErrCrashed are the document's; others are not.
func (e *Engine) HTML(ctx context.Context, body []byte) (_ []byte, err error) {
	// Each document gets a memory of its own, so that it cannot leave anything to the next.
	in, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	// After a fault the instance may not be able to close the document. The memory goes.
	defer func() { _ = in.Close() }()
	r := &reader{pdf: in, body: body}
	d, err := r.read()
	if err != nil {
		return nil, err
	}
	return d.html(body), nil
}

// zeros are the random numbers of PDFium: equal ones for each document.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
