package histories_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// TestElleShared: three DBs on one table, each with a client of its own of the oracle
// service, which changes hands in the middle. The judge sees no difference to one process.
func TestElleShared(t *testing.T) {
	needJudge(t)
	good := load{mode: txn.Auto, transactions: testenv.Size(300, 1000, 50_000), clients: 18, keys: 5, processes: 3}
	for name, l := range map[string]load{"good": good, "bad": badTimes(good)} {
		t.Run(name, func(t *testing.T) {
			table := openMem(t, mem.Options{TwoPhaseOnly: true})
			defer closeTable(t, table)
			o := startOracles(t, table)
			defer o.stop()
			l.join, l.midway = o.join, o.handOver
			mustHold(t, record(t, table, l))
		})
	}
}

// oracles are two oracles on loopback addresses, and the clients of those who joined.
type oracles struct {
	t         *testing.T
	table     store.Table
	addresses []string
	list      []*oracle.Oracle
	servers   []*remote.Server
	closers   []func() error
}

func startOracles(t *testing.T, table store.Table) *oracles {
	t.Helper()
	o := &oracles{t: t, table: table}
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		one, err := oracle.Start(t.Context(), table, oracle.Options{
			Join: func(ctx context.Context) (oracle.Member, error) { return oracle.Join(ctx, table) },
		})
		if err != nil {
			t.Fatal(err)
		}
		server, err := remote.Serve(l, one, remote.Security{})
		if err != nil {
			t.Fatal(err)
		}
		o.addresses = append(o.addresses, l.Addr().String())
		o.list = append(o.list, one)
		o.servers = append(o.servers, server)
	}
	return o
}

// handOver ends the oracle that serves.
func (o *oracles) handOver() {
	for i, one := range o.list {
		if one != nil && one.Status().Serving {
			o.list[i] = nil
			if err := one.Stop(context.Background()); err != nil {
				o.t.Error(err)
			}
			return
		}
	}
}

// join makes one more process.
func (o *oracles) join() *txn.Coordination {
	member, err := oracle.Join(context.Background(), o.table)
	if err != nil {
		o.t.Fatal(err)
	}
	client, err := remote.Connect(o.addresses, member.Token(), remote.Options{Holder: oracle.HolderIn(o.table)})
	if err != nil {
		o.t.Fatal(err)
	}
	o.closers = append(o.closers, client.Close, func() error { return member.Leave(context.Background()) })
	c, err := client.Coordination(context.Background(), member, member.Domain())
	if err != nil {
		o.t.Fatal(err)
	}
	return c
}

func (o *oracles) stop() {
	var errs []error
	for _, end := range o.closers {
		errs = append(errs, end())
	}
	for i, one := range o.list {
		if one != nil {
			errs = append(errs, one.Stop(context.Background()))
		}
		o.servers[i].Stop()
		errs = append(errs, <-o.servers[i].Done())
	}
	if err := errors.Join(errs...); err != nil {
		o.t.Error(err)
	}
}
