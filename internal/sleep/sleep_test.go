package sleep_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, enough := time.Now(), errors.New("enough")
		if err := sleep.For(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour {
			t.Errorf("slept %v of an hour, %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, enough)
		defer cancel()
		began = time.Now()
		if err := sleep.For(ctx, time.Hour); !errors.Is(err, enough) || time.Since(began) != time.Minute {
			t.Errorf("slept %v with a context of a minute, %v", time.Since(began), err)
		}
	})
}
