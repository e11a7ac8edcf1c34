package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/division"
	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/etcd"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/engines"
	"github.com/webindexer/indexer/txn"
)

// deployment is the part of this process in a store that several processes share: the
// table, the liveness token, and the connection to the oracle. Without an oracle in the
// settings, the process has the store to itself and is its own oracle.
type deployment struct {
	table        store.Table
	coordination *txn.Coordination
	alone        bool
	self         describer      // tells people about this process
	closers      []func() error // in order
}

// isShared reports whether the store is a database.
func (a *app) isShared() bool { return engines.Remote(a.cfg.Store) }

// database names the database without its password; "" if the store is in the data directory.
func (a *app) database() string {
	if !a.isShared() {
		return ""
	}
	return engines.Redact(a.cfg.Store)
}

// openTable opens the database that the setting store names, unless it is the target of a
// copy that has not ended.
func (a *app) openTable(ctx context.Context) (store.Table, error) {
	table, err := a.openAny(ctx)
	if err != nil {
		return nil, a.storeError(err)
	}
	if err := repository.CheckComplete(ctx, table); err != nil {
		return nil, errors.Join(fmt.Errorf("the store %s: %w", engines.Redact(a.cfg.Store), err), table.Close())
	}
	return table, nil
}

// storeError makes a mistake in the setting store a mistake of usage, or of the file or variable that
// has the setting.
func (a *app) storeError(err error) error {
	wrong, ok := errors.AsType[*store.SettingError](err)
	if !ok {
		return err
	}
	if _, isFlag := a.given["store"]; isFlag {
		return &usageError{reason: "setting store (--store): " + wrong.Error(), help: "indexer"}
	}
	file, _ := a.settingsFile() // configure has read it
	return &config.Error{Where: file.Source(a.given, "store"), Key: "store", Reason: strings.TrimPrefix(wrong.Error(), "store ")}
}

// openAny opens the database that the setting store names, whatever is in it.
func (a *app) openAny(ctx context.Context) (store.Table, error) {
	table, err := engines.Open(ctx, a.cfg.Store, repository.SharedGroups(), engines.Options{})
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", engines.Redact(a.cfg.Store), err)
	}
	return table, nil
}

// leaveWithin bounds what a process does to tell others that it is gone. They notice anyway.
const leaveWithin = 5 * time.Second

// join makes this process part of a deployment.
func (a *app) join(ctx context.Context) (_ *deployment, err error) {
	d := &deployment{}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.leave())
		}
	}()
	security, err := a.security()
	if err != nil {
		return nil, err
	}
	if d.table, err = a.openTable(ctx); err != nil {
		return nil, err
	}
	d.closers = append(d.closers, d.table.Close)
	if a.cfg.Oracle == "" {
		return d, a.joinAlone(ctx, d)
	}
	client, err := a.dialEtcd(d)
	if err != nil {
		return nil, err
	}
	member, err := newMember(ctx, client, d.table)
	if err != nil {
		return nil, err
	}
	d.self = member
	d.closers = append(d.closers, inTime(member.Leave))
	oracles, err := remote.Connect(remote.ParseAddresses(a.cfg.Oracle), member.Token(), remote.Options{
		Security: security, Holder: oracle.HolderIn(d.table),
		Waiting: func(why error) { _, _ = fmt.Fprintf(a.stderr, "waiting: %v\n", why) },
	})
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, oracles.Close)
	d.coordination, err = oracles.Coordination(ctx, member, member.Domain())
	return d, err
}

func (a *app) joinAlone(ctx context.Context, d *deployment) error {
	own, err := oracle.StartOwn(ctx, d.table)
	if err != nil {
		return err
	}
	d.alone, d.self, d.coordination = true, own, own.Coordination()
	d.closers = append(d.closers, inTime(own.Stop))
	return nil
}

// dialEtcd connects to the etcd cluster of the settings, nil if there is none.
func (a *app) dialEtcd(d *deployment) (*etcd.Client, error) {
	if a.cfg.Etcd == "" {
		return nil, nil
	}
	security, err := a.security()
	if err != nil {
		return nil, err
	}
	conf, err := security.ClientTLS()
	if err != nil {
		return nil, err
	}
	client, err := etcd.Dial(remote.ParseAddresses(a.cfg.Etcd), conf)
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, client.Close)
	return client, nil
}

// newMember makes this process known to the others, in etcd or, if client is nil, in the
// table.
func newMember(ctx context.Context, client *etcd.Client, table store.Table) (oracle.Member, error) {
	if client == nil {
		return oracle.Join(ctx, table)
	}
	return etcd.Join(ctx, client)
}

// security checks the settings that tell how the processes reach and recognise each other.
func (a *app) security() (remote.Security, error) {
	token, err := remote.ReadToken(a.cfg.TLS.Token)
	s := remote.Security{CertFile: a.cfg.TLS.Cert, KeyFile: a.cfg.TLS.Key, CAFile: a.cfg.TLS.CA, Token: token}
	if err == nil {
		_, err = s.ClientTLS()
	}
	for _, address := range remote.ParseAddresses(a.cfg.Oracle) {
		err = cmp.Or(err, s.Check(address))
	}
	if err != nil {
		return s, &usageError{reason: err.Error(), help: "indexer"}
	}
	return s, nil
}

// inTime bounds the time of a function that tells other processes that this one leaves.
func inTime(fn func(context.Context) error) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
		defer cancel()
		return fn(ctx)
	}
}

// leave ends everything, last things first.
func (d *deployment) leave() error {
	var errs []error
	for i := len(d.closers) - 1; i >= 0; i-- {
		errs = append(errs, d.closers[i]())
	}
	return errors.Join(errs...)
}

// keptOpen is the table of a deployment, which the repository must not close: the liveness
// token may be in it.
type keptOpen struct{ store.Table }

func (keptOpen) Close() error { return nil }

// openShared opens the repository of a deployment. A process that has the store to itself
// works like one with a data directory. Otherwise only `indexer worker` runs observers.
func (a *app) openShared(ctx context.Context, loads bool) (*session, error) {
	if a.beginsCrawl && a.standby != nil && a.cfg.Oracle != "" {
		return nil, &usageError{reason: "a server does not crawl into a store that several processes share: a crawler that is cut off from the others gives up its hosts and joins them again, and the server could not answer searches meanwhile; run `indexer crawl` beside it", help: "indexer serve"}
	}
	s, err := a.newSession(loads)
	if err != nil {
		return nil, err
	}
	d, err := a.join(ctx) // before the data directory is made: the store may be out of reach
	if err != nil {
		return nil, err
	}
	s.deployment = d
	// A process that runs no observers writes nothing there.
	if err := a.prepareAccess(d.alone || a.share.Works); err != nil {
		return nil, denied(errors.Join(err, d.leave()))
	}
	if !d.alone {
		s.crawl.Liveness, s.crawl.Notify = d.coordination.Liveness, division.Notify
	}
	share, coordination := a.share, *d.coordination
	coordination.Timestamps = patientTimestamps{coordination.Timestamps}
	share.Coordination, share.Shards = &coordination, a.cfg.IndexShards
	if d.alone {
		share.Alone, share.Works, share.Leases = true, true, []string{observers.LeaseRank, observers.LeaseIndex, repository.LeaseGarbage}
	}
	opts := s.repositoryOptions()
	opts.Table = func(context.Context, []store.GroupSpec) (store.Table, error) {
		return patientTable{keptOpen{d.table}}, nil
	}
	opts.Share = &share
	if err := s.openRepository(ctx, opts); err != nil {
		return nil, errors.Join(err, d.leave())
	}
	s.describing = a.describe(ctx, d.self, s.repo)
	if share.Works {
		s.startAnswering()
	}
	return s, nil
}
