package observers

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// exportDebounce delays the export of a cluster while pages stream in; see notify.Observer. Each
// further page adds anchors to the documents that it links to, and full-text entries are always
// written whole. With this delay, a document appears at most 25 seconds after its page was loaded
// (exportFirst), and is written again at most every fifty seconds, or after exportPages pages if
// it only has new links. (With ten seconds instead of 25, loading takes 7 % more processor time.)
//
// A worker that has nothing else to do does not wait: it exports new and changed pages at
// once (notify.Observer.Spare), but not pages that only have new links to them.
//
// The delay is for a load without pauses. If fifty milliseconds pass between pages
// (exportIdle), as in a polite crawl of a few hosts, documents are exported at once.
const (
	exportDebounce = 50 * time.Second
	exportFirst    = 25 * time.Second
	exportIdle     = 50 * time.Millisecond
)

// A cluster that only got new links waits for exportPages pages, unless a load is larger than
// 100,000 pages (notify/deferrable.go), but at most for exportMax. With exportDebounce alone,
// a slow machine would write each document more often than a fast machine for the same pages.
const (
	exportPages = 25_000
	exportMax   = 10 * time.Minute
)

// rankDebounce is the delay for ranks: passing on the changes of many pages together
// costs little more than passing on those of one page.
const rankDebounce = 50 * time.Second

// rankCooldown and rankMaxCooldown leave the processor to the pages of a load: rank takes at
// most a tenth of the time of one worker, or cools down for ten minutes, and so does rerank. A
// run of rank works through the part of the graph that a change affects, and wakes the
// documents there. At 500,000 pages on a busy machine, that was nearly the same work every ten
// seconds, and took more than half of the processor time.
//
// During a load, a rank is up to rankMaxCooldown older than its page; an idle upstream ends the
// cooldown.
const (
	rankCooldown    = 9
	rankMaxCooldown = 10 * time.Minute
)

// linger is how long, while pages are loaded, a page waits for others at each step, so that they
// share a transaction.
const linger = 20 * time.Millisecond

// countDebounce and countIdle are the delays for documents whose inlinks are counted in a
// pass of many runs, which takes seconds. In a crawl that finds a page every ten seconds,
// such a document is up to a minute old.
const (
	countDebounce = 50 * time.Second
	countIdle     = 10 * time.Second
)

// tiebreakDebounce and tiebreakIdle are the delays for choices that need the ranks of the
// whole graph: settle makes them when all other work is done, or once an hour (the first
// time after 12 minutes) if that never happens. Until then a contested cluster shows the
// member that the published ranks prefer. At 100,000 pages, a solve each minute took 4 to
// 5 % of the processor time of a load.
//
// A run takes about 1 µs of processor time for each page, or 20 if it has to read the whole
// graph. So where pages change from time to time, settle cools down after a run
// (rankCooldown), although all other work is done. It does not cool down while a caller waits
// for all work, so a digest always covers settled choices.
const (
	tiebreakDebounce = time.Hour
	tiebreakIdle     = time.Second
)

// renderDebounce and renderFirst delay the rendering of a page while pages are loaded,
// because a page that is rendered before its scripts are loaded is rendered again. In a
// polite crawl, the resources of a page come one by one in the seconds after it.
const (
	renderDebounce = 50 * time.Second
	renderFirst    = 25 * time.Second
	renderIdle     = time.Second
)

// refreshDebounce is how long renewed fetch times are gathered while pages are exported.
// A page is not renewed often, so a longer delay would not save any write; it would only
// make batches larger.
const refreshDebounce = 5 * time.Second

// The leases of the observers, for processes that share a table. The holder of LeaseRank
// computes the ranks of the whole graph. The holder of LeaseIndex writes the index files.
const (
	LeaseRank  = "rank"
	LeaseIndex = "index"
)

// LeaseShard returns the lease of a shard of the index files, if they are divided among
// several processes.
func LeaseShard(shard int) string { return fmt.Sprintf("%s-%d", LeaseIndex, shard) }

// Names of observers that other code asks about, or whose work it does.
const (
	clusterName = "cluster"
	linksName   = "links"
	forwardName = "forward"
	refreshName = "refresh"
)

// TouchName is the name of an observer that exists only if the index files are divided into
// shards.
const TouchName = "touch"

// Options are the dependencies and limits of the observers. A field that is zero has its
// default, except that Sink and Tracker may be nil only if no observer runs.
type Options struct {
	Sink    Sink
	Tracker *Tracker
	// Part is the size of the parts of long lists. Default: schema.UsualPart.
	Part   schema.PartSize
	Limits Limits
	// Shards divides the index files among several processes; nil: one process, the holder of
	// LeaseIndex, writes them all.
	Shards *notify.Shards
	// Passes are the passes over inlinks. nil: the observers have their own.
	Passes *Passes
	// KeepSum has the sum of all exported documents kept in the table (ReadIndexSum).
	KeepSum bool
	// Graph keeps the link graph for settle; nil: each run that needs the graph reads all of it,
	// as on a table that several processes share.
	Graph *GraphCache
	// Renderer renders pages; nil: there is no browser. Unrendered counts the pages that are
	// not rendered because there is none; nil: they are not counted.
	Renderer   Renderer
	Unrendered *atomic.Int64
	// RankRun is called with the work of each run of rank.
	RankRun func(pagerank.Work)
}

// Passes are the passes over inlinks that are under way (package document).
type Passes = document.Passes

// Limits are the limits of the cores. The zero value means the defaults.
type Limits struct {
	Rank     pagerank.Limits
	Document document.Limits
	Cluster  cluster.Limits
	// AtOnce is how many link rows a run of document writes at once (atonce.go). If it is
	// negative, document leaves everything to cluster and links.
	AtOnce int
	// EdgeCells is how many cells of edges a run of rank writes before it leaves further URLs
	// to a later run. Default: 48,000.
	EdgeCells int
}

// Registry registers the observers and others, such as those of a crawl (package
// frontier).
func (o Options) Registry(further ...notify.Observer) (*notify.Registry, error) {
	return notify.NewRegistry(append(o.Observers(), further...)...)
}

// Observers returns the observers. Every observer of pages is listed here and nowhere else.
func (o Options) Observers() []notify.Observer {
	if o.Part == (schema.PartSize{}) {
		o.Part = schema.UsualPart
	}
	r := &ranker{part: o.Part, cells: cmp.Or(o.Limits.EdgeCells, edgeCells), limits: o.Limits.Rank, report: o.RankRun, cache: o.Graph}
	x := &exporter{sink: o.Sink, tracker: o.Tracker, limits: o.Limits.Document.WithDefaults(), clusters: o.Limits.Cluster, passes: cmp.Or(o.Passes, new(document.Passes)), keepSum: o.KeepSum}
	d := &renderer{browser: o.Renderer, unrendered: cmp.Or(o.Unrendered, new(atomic.Int64))}
	y := &reranker{sink: o.Sink, tracker: o.Tracker, limits: o.Limits.Cluster}
	list := []notify.Observer{
		{Name: "document", Watches: schema.FetchContent, Batch: 8, Linger: linger, Run: (&interpreter{o.Part, o.Tracker, cmp.Or(o.Limits.AtOnce, atOnceLinks), page.NewInterpreter(rememberedBodies)}).run},
		// On a shared table one process renders, because processes may have different
		// browsers, or none. One page is rendered at a time for every two processors, so that
		// other observers keep their workers.
		{Name: "render", Watches: schema.RenderWake, Weak: true, MaxOpen: max(1, runtime.GOMAXPROCS(0)/2), Lease: LeaseRank,
			Debounce: renderDebounce, FirstDebounce: renderFirst, IdleAfter: renderIdle, Upstream: []string{"document"}, Run: d.run},
		{Name: "invalidate", Watches: schema.ResourceChanged, Weak: true, Lease: LeaseRank,
			Debounce: renderDebounce, FirstDebounce: renderFirst, IdleAfter: renderIdle, Upstream: []string{"document", "render"}, Run: invalidate},
		{Name: clusterName, Watches: schema.State, Batch: 32, Linger: linger, Upstream: []string{"document"}, Run: resolve},
		{Name: "spread", Watches: schema.Chain, Batch: 32, Linger: linger, Upstream: []string{clusterName}, Run: propagate},
		{Name: linksName, Watches: schema.Links, Batch: 8, Linger: linger, Upstream: []string{"document"}, Run: (&inverter{o.Part}).run},
		{Name: forwardName, Watches: schema.NotifyTargets, Weak: true, Batch: 16, Linger: linger, Upstream: []string{linksName}, Run: (&targetNotifier{o.Part}).run},
		{Name: "rank", Replaces: []string{"post"}, Watches: schema.Push, Weak: true, Batch: rankBatch, Exclusive: true, MaxOpen: 1, Lease: LeaseRank,
			Debounce: rankDebounce, FirstDebounce: exportFirst, IdleAfter: exportIdle, Cooldown: rankCooldown, MaxCooldown: rankMaxCooldown,
			Upstream: []string{"spread", "forward"}, Run: r.run},
		{Name: "rerank", Watches: schema.Ranked, Weak: true, Batch: rerankBatch, Exclusive: true, Lease: LeaseIndex,
			Debounce: exportDebounce, FirstDebounce: exportFirst, IdleAfter: exportIdle, Cooldown: rankCooldown, MaxCooldown: rankMaxCooldown,
			Upstream: []string{"spread", "forward", "rank"}, Run: y.run},
		{Name: "index", Watches: schema.Dirty, Weak: true, Batch: 128, Spare: true, Lease: LeaseIndex,
			Debounce: exportDebounce, FirstDebounce: exportFirst, IdleAfter: exportIdle, DeferRows: exportPages, MaxDefer: exportMax,
			Upstream: []string{"spread", "forward", "rerank"}, Run: x.index},
		{Name: "count", Replaces: []string{"tally"}, Watches: schema.Count, Weak: true, MaxOpen: x.limits.Passes, Lease: LeaseIndex,
			Debounce: countDebounce, IdleAfter: countIdle, Upstream: []string{"index"}, Run: x.count},
		{Name: "settle", Watches: schema.Tiebreak, Weak: true, Lease: LeaseRank, Debounce: tiebreakDebounce, IdleAfter: tiebreakIdle,
			Cooldown: rankCooldown, MaxCooldown: rankMaxCooldown, CooldownWhenIdle: true, Upstream: []string{"count"}, Run: (&tieBreaker{o.Graph}).run},
		{Name: refreshName, Watches: schema.Refreshed, Weak: true, Batch: 256, Exclusive: true, Lease: LeaseIndex,
			Debounce: refreshDebounce, IdleAfter: exportIdle, Upstream: []string{"index", "count"}, Run: (&refresher{o.Sink}).run},
	}
	return o.divide(list)
}

// divide divides the work of LeaseIndex among the leases of shards, if there are any.
func (o Options) divide(list []notify.Observer) []notify.Observer {
	if o.Shards == nil {
		return list
	}
	for i := range list {
		switch {
		case list[i].Name == refreshName:
			list[i].Lease, list[i].Exclusive, list[i].Debounce, list[i].Upstream, list[i].Run = "", false, 0, nil, relayRefreshed
		case list[i].Lease == LeaseIndex:
			list[i].Lease, list[i].Shards = "", o.Shards
		}
	}
	return append(list, notify.Observer{
		Name: TouchName, Watches: schema.Touched, Weak: true, Batch: 256, Shards: o.Shards,
		Debounce: refreshDebounce, IdleAfter: exportIdle, Upstream: []string{refreshName, "index", "count"}, Run: (&toucher{o.Sink}).run,
	})
}

// Only keeps the named observers of a list.
func Only(list []notify.Observer, names ...string) []notify.Observer {
	return filter(list, func(name string) bool { return slices.Contains(names, name) })
}

// Without keeps all but the named observers of a list.
func Without(list []notify.Observer, names ...string) []notify.Observer {
	return filter(list, func(name string) bool { return !slices.Contains(names, name) })
}

// filter keeps some observers of a list, and removes the others from their Upstream.
func filter(list []notify.Observer, keep func(name string) bool) []notify.Observer {
	list = slices.DeleteFunc(slices.Clone(list), func(o notify.Observer) bool { return !keep(o.Name) })
	for i := range list {
		list[i].Upstream = slices.DeleteFunc(slices.Clone(list[i].Upstream), func(name string) bool { return !keep(name) })
	}
	return list
}
