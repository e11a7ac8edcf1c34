//go:build nobigtable

package engines

import (
	"context"
	"strings"
	"testing"
)

func TestWithoutBigtable(t *testing.T) {
	table, err := Open(context.Background(), "bigtable://p/i/web", groups, Options{})
	if err == nil || table != nil || !strings.Contains(err.Error(), "without the tag nobigtable") {
		t.Errorf("Open = %v, %v; want an error that names the tag", table, err)
	}
}
