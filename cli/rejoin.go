package cli

import (
	"context"

	"go.uber.org/zap"
)

// rejoin makes a server a new process of its deployment after others have considered it dead,
// because it was stopped or cut off for a while. Searches go on meanwhile; requests for details fail
// until the store is open again.
func (st *standby) rejoin(ctx context.Context) {
	for pause := watchEvery; ; pause = min(2*pause, troubleTime) {
		s, err := st.app.open(ctx, false)
		if err == nil {
			old := st.session
			st.session = s
			st.move(s.place(), drainTime)
			st.say("other processes had considered this server dead, because it was stopped or cut off for a while; it has joined them again")
			st.app.log.Info("closed the store that had been open before", zap.Error(old.close(ctx)))
			return
		}
		if ctx.Err() == nil {
			st.say("other processes consider this server dead, and it cannot join them again yet: %v", err)
		}
		if !st.rest(ctx, pause, false) {
			return
		}
	}
}
