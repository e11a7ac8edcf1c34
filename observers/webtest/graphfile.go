package webtest

import (
	"context"
	"io/fs"
	"slices"
)

// GraphFile is a file of observers.GraphCache in memory. The zero value is a file that does
// not exist yet.
type GraphFile struct{ Content []byte }

// Read returns the content.
func (f *GraphFile) Read() ([]byte, error) {
	if f.Content == nil {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(f.Content), nil
}

// Write replaces the content.
func (f *GraphFile) Write(_ context.Context, content []byte) error {
	f.Content = slices.Clone(content)
	return nil
}
