package cli

import (
	"context"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/repository"
)

// describer publishes what people want to know about this process.
type describer interface {
	Describe(ctx context.Context, d oracle.Description) error
}

// describeEvery is how often a process publishes its rates: in the table with its next sign
// of life, which is written anyway, and in etcd with a write of its own.
const describeEvery = 5 * time.Second

// describing publishes the rates of a process until stop.
type describing struct {
	cancel context.CancelFunc
	work   sync.WaitGroup
}

func (a *app) describe(ctx context.Context, to describer, repo *repository.Repository) *describing {
	d := new(describing)
	ctx, d.cancel = context.WithCancel(context.WithoutCancel(ctx))
	last := repo.Sample()
	self := oracle.Description{Role: a.command, Place: repo.Dir(), Index: a.cfg.Index}
	a.tell(ctx, to, self)
	d.work.Go(func() {
		ticker := time.NewTicker(describeEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now := repo.Sample()
			self.Rates = rates(&last, &now)
			a.tell(ctx, to, self)
			last = now
		}
	})
	return d
}

// tell publishes a description. Without one, status knows less, and nothing else happens.
func (a *app) tell(ctx context.Context, to describer, d oracle.Description) {
	if err := to.Describe(ctx, d); err != nil {
		a.log.Debug("status does not show what this process does", zap.Error(err))
	}
}

func (d *describing) stop() {
	d.cancel()
	d.work.Wait()
}

// rates are what a process did per second between two moments.
func rates(from, to *repository.Sample) map[string]float64 {
	took := to.Time.Sub(from.Time).Seconds()
	if took <= 0 {
		return nil
	}
	runs := func(p *repository.Sample) (n int64) {
		for _, o := range p.Observers {
			n += o.Runs
		}
		return n
	}
	per := func(from, to int64) float64 { return float64(int64(10*float64(to-from)/took)) / 10 }
	return map[string]float64{
		"commits":   per(from.Txns.Committed, to.Txns.Committed),
		"conflicts": per(from.Txns.Conflicts, to.Txns.Conflicts),
		"runs":      per(runs(from), runs(to)),
	}
}

// process describes this process as the holder of a data directory.
func (s *session) process() oracle.Process {
	p, now := oracle.NewProcess(""), s.repo.Sample()
	p.PID, p.Since = os.Getpid(), now.Opened
	p.Role, p.Place, p.Index = s.app.command, s.repo.Dir(), s.app.cfg.Index
	p.Rates = rates(&repository.Sample{Time: now.Opened}, &now)
	return p
}
