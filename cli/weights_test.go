package cli

import (
	"testing"

	"indexer/index"
	"indexer/internal/config"
)

// TestDefaultWeights: the settings and the library agree on what is the default.
func TestDefaultWeights(t *testing.T) {
	a := &app{cfg: config.Default()}
	if got := a.weights(); got != index.DefaultWeights {
		t.Errorf("settings %+v, library %+v", got, index.DefaultWeights)
	}
}
