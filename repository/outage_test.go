package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
)

// failingIndex is an index that answers unless err is set.
type failingIndex struct {
	observers.Sink
	err error
}

func (f *failingIndex) Apply(context.Context, []index.Change) error { return f.err }

// TestOutage: while the index does not answer, the log has a line at growing intervals, and one when
// it answers again.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, logged := observer.New(zap.DebugLevel)
		server := new(failingIndex)
		files := indexFiles{current: server, outage: outage{log: zap.New(log)}}
		for range 2 {
			if err := files.Apply(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			server.err = fmt.Errorf("%w: connection refused", search.ErrUnavailable)
			for range 4 * 60 { // a minute
				if err := files.Apply(t.Context(), nil); !errors.Is(err, notify.ErrUnavailable) {
					t.Fatalf("%v; want notify.ErrUnavailable", err)
				}
				time.Sleep(time.Second / 4)
			}
			server.err = nil
			if err := files.Apply(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			server.err = errors.New("a document that cannot be written")
			if err := files.Apply(t.Context(), nil); !errors.Is(err, server.err) {
				t.Error(err)
			}
			server.err = nil
			var got []string
			for _, e := range logged.TakeAll() {
				for _, v := range e.ContextMap() {
					if d, ok := v.(time.Duration); ok {
						got = append(got, fmt.Sprint(e.Message, " ", d))
					}
				}
			}
			want := []string{"cannot write to the index, will try again 0s"}
			for _, since := range []string{"5s", "15s", "35s"} {
				want = append(want, "cannot write to the index, will try again "+since)
			}
			if want = append(want, "can write to the index again 1m0s"); !slices.Equal(got, want) {
				t.Errorf("the log has %q; want %q", got, want)
			}
		}
	})
}
