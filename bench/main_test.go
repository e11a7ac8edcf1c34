package bench

import (
	"testing"

	"go.uber.org/goleak"
)

// Server, crawlers and repository of a round end with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
