package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/division"
	"github.com/webindexer/indexer/crawler/partition"
	"github.com/webindexer/indexer/index/opensearch"
	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/etcd"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/engines"
	"github.com/webindexer/indexer/txn"
)

// onlooker reads the state of a deployment without being a part of it: it writes nothing
// and takes no timestamp. So it works even without an oracle, and does not disturb `indexer
// wait`.
type onlooker struct {
	app     *app
	parts   *deployment    // table and connections only
	oracles *remote.Client // nil: none in the settings
	etcd    *etcd.Client
	shards  int                                // of the index files
	leases  map[string]func(row string) string // of a row, by observer
	waiting map[string]int                     // rows that wait, by lease, at the last look
	counts  map[string]uint64                  // signs of life, by token, at the last look
	looked  time.Time
}

func (a *app) onlook(ctx context.Context) (_ *onlooker, err error) {
	o := &onlooker{app: a, parts: new(deployment), leases: make(map[string]func(string) string)}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	table, err := a.openTable(ctx)
	if err != nil {
		return nil, err
	}
	o.parts.table = table
	o.parts.closers = append(o.parts.closers, table.Close)
	if o.etcd, err = a.dialEtcd(o.parts); err != nil {
		return nil, err
	}
	if a.cfg.Oracle != "" {
		security, err := a.security()
		if err != nil {
			return nil, err
		}
		if o.oracles, err = remote.Connect(remote.ParseAddresses(a.cfg.Oracle), "", remote.Options{Security: security}); err != nil {
			return nil, err
		}
		o.parts.closers = append(o.parts.closers, o.oracles.Close)
	}
	if o.shards, err = a.recordedShards(ctx, table); err != nil {
		return nil, err
	}
	registry, err := observers.Options{Shards: repository.ShardLeases(o.shards)}.Registry() // names only; nothing is run
	if err != nil {
		return nil, err
	}
	for _, observer := range registry.List() {
		o.leases[observer.Name] = observer.LeaseOf
	}
	return o, nil
}

// recordedShards is the number of shards of the index files, which only the store knows for sure.
func (a *app) recordedShards(ctx context.Context, table store.Reader) (int, error) {
	if opensearch.Is(a.cfg.Index) {
		return 1, nil
	}
	n, err := repository.RecordedShards(ctx, table)
	return cmp.Or(n, a.cfg.IndexShards), err
}

func (o *onlooker) close() error { return o.parts.leave() }

// show looks once.
func (o *onlooker) show(ctx context.Context) error {
	s := &state{
		Store: engines.Redact(o.app.cfg.Store), Processes: []processState{}, Leases: []leaseState{}, Oracles: []oracleState{},
		Backlog: make(map[string]int), Problems: []string{},
	}
	if o.counts == nil && o.etcd == nil { // whether counts rise shows at the second look
		if _, err := o.processes(ctx); err != nil {
			return err
		}
	}
	holder, err := oracle.ReadHolder(ctx, o.parts.table)
	if err != nil {
		return err
	}
	if s.Latency, err = repository.Probe(ctx, o.parts.table, probes); err != nil {
		return err
	}
	o.askOracles(ctx, s, holder)
	oldest, err := o.countBacklog(ctx, s)
	if err != nil {
		return err
	}
	s.OldestMS = o.age(ctx, slices.Min(slices.AppendSeq([]uint64{notWaiting}, maps.Values(oldest))))
	if err := o.waitForSigns(ctx); err != nil {
		return err
	}
	s.Processes, err = o.processes(ctx)
	switch {
	case err == nil:
	case o.etcd == nil || ctx.Err() != nil:
		return err
	default: // the table tells the rest
		s.ProcessesUnknown = true
		s.problem("nobody knows which processes are alive: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	s.Time = time.Now().UTC()
	if err := o.listLeases(ctx, s, oldest); err != nil {
		return err
	}
	if s.Crawl, err = o.crawl(ctx, s.Processes); err != nil {
		return err
	}
	s.findProblems(holder, o.oracles != nil, o.etcd != nil)
	if err := o.findIndexProblem(ctx, s); err != nil {
		return err
	}
	return printResult(o.app.stdout, o.app.cfg.Format, s, s.text())
}

// signsWithin is how long a process that is alive may take to show a sign of life, on a
// store that is not very slow.
const signsWithin = oracle.TTL / 2

// waitForSigns waits until processes that are alive have shown a sign since the last look.
func (o *onlooker) waitForSigns(ctx context.Context) error {
	if o.etcd != nil {
		return nil // etcd tells who is alive
	}
	return sleep.For(ctx, time.Until(o.looked.Add(signsWithin)))
}

// processes lists the processes, and remembers their signs of life.
func (o *onlooker) processes(ctx context.Context) (list []processState, err error) {
	var found []oracle.Process
	if o.etcd != nil {
		found, err = etcd.Processes(ctx, o.etcd)
	} else {
		found, err = oracle.Processes(ctx, o.parts.table)
	}
	if err != nil {
		return []processState{}, err
	}
	slices.SortFunc(found, func(a, b oracle.Process) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID))
	})
	counts := make(map[string]uint64, len(found))
	list = []processState{}
	for _, p := range found {
		before, seen := o.counts[p.Token]
		list = append(list, processState{Process: p, Alive: p.Count == 0 || !seen || p.Count > before})
		counts[p.Token] = p.Count
	}
	o.counts, o.looked = counts, time.Now()
	return list, nil
}

// askOracles asks each oracle what it does. holder is the one that serves this store.
func (o *onlooker) askOracles(ctx context.Context, s *state, holder oracle.Holder) {
	if o.oracles == nil {
		return
	}
	for _, st := range o.oracles.Statuses(ctx, 0) {
		if st.Err != nil {
			s.Oracles = append(s.Oracles, oracleState{Address: st.Address, State: oracleSilent, Error: st.Err.Error()})
			continue
		}
		one := oracleState{
			Address: st.Address, State: oracleStandby, Term: st.Term, ServingMS: st.ServingMs, Last: st.Last, Ceiling: st.Ceiling,
			HandedOut: st.HandedOut, Requests: st.Requests, PerSecond: st.PerSecond, Locks: st.Locks, Liveness: st.Liveness,
		}
		switch {
		case st.Serving && st.Token != "" && st.Token != holder.Token:
			one.State = oracleForeign
		case st.Serving:
			one.State = oracleServing
		}
		s.Oracles = append(s.Oracles, one)
	}
}

// age asks the oracle that serves how long ago a timestamp was handed out, in milliseconds; 0
// if that is unknown.
func (o *onlooker) age(ctx context.Context, ts uint64) float64 {
	if o.oracles == nil || ts == notWaiting {
		return 0
	}
	for _, st := range o.oracles.Statuses(ctx, ts) {
		if st.Err == nil && st.Serving {
			return float64(st.AgeMs)
		}
	}
	return 0
}

const (
	// maxCounted bounds how many notifications one look counts.
	maxCounted = 100_000
	// notWaiting is greater than every timestamp.
	notWaiting = ^uint64(0)
)

// countBacklog counts the rows that wait, and returns the oldest timestamp of them by lease.
func (o *onlooker) countBacklog(ctx context.Context, s *state) (oldest map[string]uint64, err error) {
	oldest, o.waiting = make(map[string]uint64), make(map[string]int)
	n := 0
	err = txn.EachNotification(ctx, o.parts.table, func(notes []txn.Notification) error {
		if s.BacklogCut = n >= maxCounted; s.BacklogCut {
			return txn.ErrStop
		}
		for _, note := range notes {
			s.Backlog[note.Observer]++
			name := o.leaseOf(note)
			o.waiting[name]++
			if ts, ok := oldest[name]; !ok || note.TS < ts {
				oldest[name] = note.TS
			}
		}
		n += len(notes)
		return nil
	})
	return oldest, err
}

// leaseOf is the lease under which the row of a notification is run; "" if none is needed.
func (o *onlooker) leaseOf(n txn.Notification) string {
	if of := o.leases[n.Observer]; of != nil {
		return of(n.Cell.Row)
	}
	return ""
}

func (o *onlooker) listLeases(ctx context.Context, s *state, oldest map[string]uint64) error {
	held, err := lease.List(ctx, o.parts.table)
	if err != nil {
		return err
	}
	alive := make(map[string]bool)
	for _, p := range s.Processes {
		alive[p.Token] = p.Alive
	}
	for name := range oldest {
		if _, ok := held[name]; !ok && name != "" {
			held[name] = lease.Holder{}
		}
	}
	for name, h := range held {
		l := leaseState{Name: name, Holder: h, Alive: alive[h.Token], Waiting: o.waiting[name]}
		if !l.Alive && isOfOtherDivision(name, o.shards) {
			continue
		}
		if ts, ok := oldest[name]; ok {
			l.OldestMS = o.age(ctx, ts)
		}
		s.Leases = append(s.Leases, l)
	}
	slices.SortFunc(s.Leases, func(a, b leaseState) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// isOfOtherDivision reports whether a lease is of index files that are divided into another number
// of shards. A killed worker leaves such a lease, and no process takes it once they are divided again.
func isOfOtherDivision(name string, shards int) bool {
	number, isShard := strings.CutPrefix(name, observers.LeaseIndex+"-")
	if !isShard {
		return name == observers.LeaseIndex && shards > 1
	}
	n, err := strconv.Atoi(number)
	return err == nil && (shards <= 1 || n >= shards)
}

// crawl shows how the hosts are divided among crawlers; nil if there is no crawl.
func (o *onlooker) crawl(ctx context.Context, processes []processState) (*crawlState, error) {
	divided, err := division.List(ctx, o.parts.table)
	if err != nil {
		return nil, err
	}
	tokens := maps.Clone(divided.Held)
	for token := range divided.Crawlers {
		tokens[token] += 0 // also those that hold nothing
	}
	if len(tokens) == 0 {
		return nil, nil
	}
	c := &crawlState{Partitions: partition.Count, Free: divided.Free, Waiting: divided.Waiting}
	for token, n := range tokens {
		alive := slices.ContainsFunc(processes, func(p processState) bool { return p.Token == token && p.Alive })
		c.Crawlers = append(c.Crawlers, crawlerState{token, divided.Crawlers[token], alive, n})
	}
	slices.SortFunc(c.Crawlers, func(a, b crawlerState) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.State.Process, b.State.Process), cmp.Compare(a.Token, b.Token))
	})
	return c, nil
}
