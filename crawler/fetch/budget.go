package fetch

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// FreeBody is how many bytes of a payload, and of a decoded body, need no reservation, so
// that usual pages never wait for each other.
const FreeBody = 512 << 10

// Budget bounds the memory that the large bodies of all requests take together. One half is
// for payloads, the other for what they decode to. A body that exceeds FreeBody waits until
// there is room for the most that it can become. It holds that room, or what it turns out to
// need, until its Reservation is released.
//
// No request waits for ever. A Reservation takes room at most twice, each time all at once:
// for a payload, and then for what that decodes to.
//
//   - A request with room for a decoded body waits for no more room. It ends, because the time
//     of an exchange is limited, and storing the result waits for no other request.
//   - So a request that waits for that room gets it: requests take turns, and those that hold
//     room end.
//   - A request with room for a payload waits at most for room for the decoded body. So it ends
//     as well, and a request that waits for room for a payload gets it for the same reason: it
//     holds no room while it waits.
//
// A body that is larger than the half takes the whole half, and exceeds it.
type Budget struct{ payloads, decoded *half }

type half struct {
	size int64
	free *semaphore.Weighted
}

// NewBudget returns a budget of the given number of bytes.
func NewBudget(bytes int64) *Budget {
	newHalf := func() *half { return &half{bytes / 2, semaphore.NewWeighted(bytes / 2)} }
	return &Budget{newHalf(), newHalf()}
}

// Reserve returns a Reservation, which holds nothing yet.
func (b *Budget) Reserve() *Reservation {
	return &Reservation{payload: share{of: b.payloads}, decoded: share{of: b.decoded}}
}

// Reservation is what the result of one Fetch takes of a Budget. Only one Fetch may use it
// at a time, and none while it holds something. Its owner calls Release when the result is
// no longer needed. A nil Reservation has no limit.
type Reservation struct{ payload, decoded share }

// Holds reports whether the result is large, so that Release has an effect.
func (r *Reservation) Holds() bool { return r != nil && r.payload.held+r.decoded.held > 0 }

// Release gives back what the Reservation holds.
func (r *Reservation) Release() { r.keep(0, 0) }

// keep gives back what a result of these sizes does not need.
func (r *Reservation) keep(payload, decoded int) {
	if r != nil {
		r.payload.keep(int64(payload))
		r.decoded.keep(int64(decoded))
	}
}

func (r *Reservation) takePayload(ctx context.Context, n int64) error {
	if r == nil {
		return nil
	}
	return r.payload.take(ctx, n)
}

func (r *Reservation) takeDecoded(ctx context.Context, n int64) error {
	if r == nil {
		return nil
	}
	return r.decoded.take(ctx, n)
}

// share is what one result holds of a half.
type share struct {
	of   *half
	held int64
}

// take waits for n bytes, or for the whole half if that is less.
func (s *share) take(ctx context.Context, n int64) error {
	n = min(n, s.of.size)
	if err := s.of.free.Acquire(ctx, n); err != nil {
		return err
	}
	s.held = n
	return nil
}

func (s *share) keep(n int64) {
	if more := s.held - n; more > 0 {
		s.of.free.Release(more)
		s.held = n
	}
}
