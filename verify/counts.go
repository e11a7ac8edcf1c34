package verify

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/webindexer/indexer/repository/counts"
)

// compareCounts compares the kept counts that stats would return, if any, with a scan.
func (v *verifier) compareCounts(ctx context.Context, kept *counts.Counts) error {
	if kept == nil {
		return nil
	}
	scanned, err := counts.Read(ctx, v.tx)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	var text [2]string
	for i, c := range []*counts.Counts{kept, &scanned} {
		b, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("counts as text: %w", err)
		}
		text[i] = string(b)
	}
	v.rep.same("counts", "repository", "stats", text[0], text[1])
	return nil
}
