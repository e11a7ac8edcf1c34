package txn

import (
	"fmt"
	"strings"
)

// collect is the command of that name in a history: a full collection by whoever
// knows that no notification is in anybody's hands.
func (h *history) collect() (string, error) {
	got, err := h.db.Collect(h.ctx, CollectOptions{Answers: idle{}})
	if err != nil {
		return "", err
	}
	out := []string{fmt.Sprintf("up to %d", got.SafePoint)}
	for _, c := range []struct {
		n    int
		what string
	}{
		{got.Locks, "locks resolved"}, {got.Versions, "versions"}, {got.Deletions, "deletions"},
		{got.Rollbacks, "rollbacks"}, {got.LockOnly, "lock records"}, {got.Acks, "acknowledgements"},
	} {
		if c.n > 0 {
			out = append(out, fmt.Sprint(c.n, " ", c.what))
		}
	}
	return strings.Join(out, ", "), nil
}

// idle are Answers of which none is waited for.
type idle struct{}

func (idle) Settled(fn func(busy func(row, observer string) bool) error) error {
	return fn(func(string, string) bool { return false })
}
