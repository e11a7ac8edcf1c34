package cli

import (
	"fmt"
	"io"
)

// helpWriter writes the help, which package cobra prints without looking at errors, and
// remembers the first error.
type helpWriter struct {
	to  io.Writer
	err error
}

func (w *helpWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("print the help: %w", err)
	}
	return n, err
}
