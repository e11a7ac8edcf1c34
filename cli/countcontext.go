package cli

import (
	"context"
	"fmt"
	"time"
)

// countAfterInterrupt bounds how long an interrupted run waits for a shared table or its
// oracle, to learn what is left. If one of them cannot be reached, that may be why the user
// interrupted the run.
const countAfterInterrupt = 5 * time.Second

// countContext returns a context for counting what a summary tells. The context of the run has
// ended after an interrupt.
func (s *session) countContext(interrupted bool) (context.Context, context.CancelFunc) {
	if interrupted && s.app.isShared() {
		return context.WithTimeout(context.Background(), countAfterInterrupt)
	}
	return context.Background(), func() {}
}

// incomplete is the error of a summary without what could not be counted.
func incomplete(err error) error {
	return fmt.Errorf("%w; the summary is not complete: %w", errInterrupted, err)
}
