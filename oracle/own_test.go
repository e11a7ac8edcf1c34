package oracle

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// TestStartOwnBeside: a second process learns whether it can ask the oracle that serves, or has to wait for its end.
func TestStartOwnBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		own, err := StartOwn(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		_, err = StartOwn(t.Context(), table)
		if !errors.Is(err, ErrOtherOracle) || !strings.HasSuffix(err.Error(), "uses it alone; end that process") {
			t.Errorf("beside a process that serves itself: %v", err)
		}
		if err := own.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for h, want := range map[Holder]string{
		{Token: "a", Address: "b:1"}: "process a at b:1; name its address with --oracle, or end that process",
		{}:                           "which one, the table does not say yet; try again",
	} {
		if got := h.advice(); got != want {
			t.Errorf("beside %+v: %s", h, got)
		}
	}
}
