package progress

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Tell says how far work is, in a format of package fmt.
type Tell = func(format string, args ...any)

// Report runs work that has nothing to show until its end. It writes what the work told last:
// every few seconds, and when ctx ends the work.
func Report[T any](ctx context.Context, w io.Writer, work func(Tell) (T, error)) (T, error) {
	var last atomic.Pointer[func() string]
	r := StartLine(w, func(time.Duration) string {
		if line := last.Load(); line != nil {
			return (*line)()
		}
		return ""
	}, Options{})
	result, err := work(func(format string, args ...any) {
		line := func() string { return fmt.Sprintf(format, args...) }
		last.Store(&line)
	})
	r.Stop()
	if err != nil && ctx.Err() != nil {
		r.show()
	}
	return result, err
}
