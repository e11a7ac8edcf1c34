package fetch

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// FreeBody is how many bytes of a payload, and of a decoded body, need no reservation, so
// that usual pages never wait for each other.
const FreeBody = 512 << 10

// Budget bounds the memory that large bodies take together, over all requests. It has one
// half for payloads and one for what they decode to. A body that exceeds FreeBody waits
// until there is room for the most that it can become, and holds that room, or what it
// turns out to need, until its Reservation is released.
//
// No request waits for ever. A Reservation takes room at most twice, for a payload and then
// for what that decodes to, and all of it at once:
//
//   - Who has room for a decoded body waits for nobody's room. It ends, because the time of
//     an exchange is limited, and its holder does not wait for other requests.
//   - So who waits for that room gets it in the end: waiters take turns, and the half is
//     divided among holders that end.
//   - Who has room for a payload waits at most for the former. So it ends, too, and who
//     waits for room for a payload, with no room at all, gets it for the same reason.
//
// A body that is larger than the half has the half alone, and then exceeds it.
type Budget struct{ payloads, decoded *half }

type half struct {
	size int64
	free *semaphore.Weighted
}

// NewBudget returns a budget of so many bytes.
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
// no longer needed. Nil stands for one without limit.
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
