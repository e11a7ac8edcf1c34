package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/txn"
)

// TestExplain: each kind of error has its status, however it is wrapped, and no answer has a path of
// this machine.
func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		text   string // that the answer begins with
	}{
		{badRequest("the parameter %s is missing", "old"), http.StatusBadRequest, "the parameter old is missing"},
		{&search.UsageError{Reason: "the query only excludes"}, http.StatusBadRequest, "the query only excludes"},
		{inspect.ErrNoCopy, http.StatusNotFound, inspect.ErrNoCopy.Error()},
		{ErrNotThen, http.StatusNotFound, ErrNotThen.Error()},
		{ErrNotOpen, http.StatusServiceUnavailable, "the data directory cannot be opened"},
		{ErrElsewhere, http.StatusServiceUnavailable, "the process that holds the data directory"},
		{search.ErrUnavailable, http.StatusServiceUnavailable, "the index, or a part of it"},
		{txn.ErrNoTimestamps, http.StatusServiceUnavailable, "the store does not answer"},
		{context.DeadlineExceeded, http.StatusServiceUnavailable, "the request took too long"},
		{context.Canceled, http.StatusServiceUnavailable, "the request took too long"},
		{errors.New("no such file"), http.StatusInternalServerError, "internal error"},
	} {
		status, text := explain(fmt.Errorf("read /home/user/data: %w", tt.err))
		if status != tt.status || !strings.HasPrefix(text, tt.text) || strings.Contains(text, "/home") {
			t.Errorf("%v: status %d, %q; want %d, %q", tt.err, status, text, tt.status, tt.text)
		}
	}
}
