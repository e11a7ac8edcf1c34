package bigtable

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/webindexer/indexer/store"
)

// errTimeout ends a call that took longer than Options.CallTimeout.
var errTimeout error = timeout{}

type timeout struct{}

func (timeout) Error() string {
	return "no answer in time; check the setting store, and that Bigtable can be reached"
}

// Is makes it a store.ErrUnavailable: the same call may succeed later.
func (timeout) Is(target error) bool { return target == store.ErrUnavailable }

// callError says what failed. The end of the caller's context is reported as such, whatever
// the server said.
func callError(ctx context.Context, what string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("store: bigtable: %s: %w (%w)", what, cause, err)
	}
	switch status.Code(err) {
	case codes.NotFound:
		return fmt.Errorf("store: bigtable: %s: the table or a column family was removed: %w", what, err)
	case codes.PermissionDenied, codes.Unauthenticated:
		return fmt.Errorf("store: bigtable: %s: the credentials do not allow it; the role roles/bigtable.user is needed (docs/stores.md): %w", what, err)
	}
	if transient(err) {
		return fmt.Errorf("%w: bigtable: %s: %w", store.ErrUnavailable, what, err)
	}
	return fmt.Errorf("store: bigtable: %s: %w", what, err)
}

func adminError(what string, err error) error {
	switch {
	case status.Code(err) == codes.PermissionDenied:
		return fmt.Errorf("store: bigtable: %s: the credentials do not allow it; the first opening of a new table needs roles/bigtable.admin (docs/stores.md): %w", what, err)
	case status.Code(err) == codes.DeadlineExceeded, errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("store: bigtable: %s: %w (%w)", what, errTimeout, err)
	case transient(err):
		return fmt.Errorf("%w: bigtable: %s: %w", store.ErrUnavailable, what, err)
	}
	return fmt.Errorf("store: bigtable: %s: %w", what, err)
}

// transient reports whether a call may succeed if it is repeated.
func transient(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Aborted, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal:
		return true
	}
	return false
}

// rejected reports whether a call certainly changed nothing: the server refused the request
// itself.
func rejected(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated, codes.FailedPrecondition, codes.Unimplemented, codes.OutOfRange:
		return true
	}
	return false
}
