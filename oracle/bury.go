package oracle

import (
	"context"
	"time"

	"github.com/webindexer/indexer/txn"
)

// tokenSweep is how often the oracle that serves looks for tokens of dead processes.
const tokenSweep = 10 * time.Second

// buryDead asks about every process that has a token in the table, because asking about a
// dead one removes its token (Tokens.Alive). Others ask only about processes that hold what
// they need: without this, a process that was killed and held nothing would be listed for
// ever. A sweep that fails is tried again.
func (o *Oracle) buryDead(ctx context.Context, lives txn.Liveness) {
	processes, err := Processes(ctx, o.table)
	if err != nil {
		return
	}
	for _, p := range processes {
		if _, err := lives.Alive(ctx, p.Token); err != nil {
			return
		}
	}
}
