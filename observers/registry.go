package observers

import (
	"slices"
	"time"

	"indexer/notify"
	"indexer/schema"
)

// exportDebounce is how long changes of one cluster are collapsed while pages stream in;
// see notify.Observer. Each page found later adds anchors to the documents that it links
// to, and full-text entries are written whole. So a document appears at most ten seconds
// after its page was loaded, and is written again at most every fifty.
//
// That is for a load without pauses. Where fifty milliseconds pass between pages
// (exportIdle), as in a crawl that is polite to a few hosts, documents are exported at
// once.
const (
	exportDebounce = 50 * time.Second
	exportIdle     = 50 * time.Millisecond
)

// rankDebounce is the same for ranks: following what many pages pass on costs little more
// than following one page.
const rankDebounce = 50 * time.Second

// countDebounce and countIdle are the same for documents whose inlinks are counted in a
// pass of many runs, some seconds in all: in a crawl that finds a page every ten seconds
// such a document is up to a minute old.
const (
	countDebounce = 50 * time.Second
	countIdle     = 10 * time.Second
)

// settleDebounce and settleIdle are the same for choices that need ranks of the whole
// graph: settle makes them when nothing else is left to do.
const (
	settleDebounce = time.Minute
	settleIdle     = time.Second
)

// Registry registers the observers: here and nowhere else. Those of a crawl, which
// find new URLs, come from package frontier.
func Registry(sink Sink, tracker *Tracker, crawl ...notify.Observer) (*notify.Registry, error) {
	return RegistryOf(sink, tracker, schema.UsualPart, crawl...)
}

// RegistryOf registers them with another size of the parts of long lists than the usual
// one, for tests.
func RegistryOf(sink Sink, tracker *Tracker, part schema.PartSize, crawl ...notify.Observer) (*notify.Registry, error) {
	return notify.NewRegistry(append(list(sink, tracker, part), crawl...)...)
}

// RegistryWithoutRanks leaves out what keeps ranks, for benchmarks of what they cost.
// Clusters with many members are not exported then.
func RegistryWithoutRanks(sink Sink, tracker *Tracker, crawl ...notify.Observer) (*notify.Registry, error) {
	rest := without(list(sink, tracker, schema.UsualPart), "rank", "rerank", "settle")
	return notify.NewRegistry(append(rest, crawl...)...)
}

// without leaves out observers, and what others say of them.
func without(list []notify.Observer, names ...string) []notify.Observer {
	rest := slices.DeleteFunc(list, func(o notify.Observer) bool { return slices.Contains(names, o.Name) })
	for i := range rest {
		rest[i].Upstream = slices.DeleteFunc(rest[i].Upstream, func(n string) bool { return slices.Contains(names, n) })
	}
	return rest
}

func list(sink Sink, tracker *Tracker, part schema.PartSize) []notify.Observer {
	x := &indexer{sink: sink, tracker: tracker}
	y := &reranker{sink: sink, tracker: tracker}
	return []notify.Observer{
		{Name: "document", Watches: schema.FetchContent, Batch: 4, Run: (&documenter{part, tracker}).run},
		{Name: "cluster", Watches: schema.State, Batch: 32, Upstream: []string{"document"}, Run: cluster},
		{Name: "spread", Watches: schema.Chain, Batch: 32, Upstream: []string{"cluster"}, Run: spread},
		{Name: "links", Watches: schema.Links, Batch: 8, Upstream: []string{"document"}, Run: (&linker{part}).run},
		{Name: "forward", Watches: schema.NotifyTargets, Weak: true, Batch: 16, Upstream: []string{"links"}, Run: (&forwarder{part}).run},
		rankObserver(part, nil),
		{Name: "rerank", Watches: schema.Ranked, Weak: true, Batch: 256, Exclusive: true,
			Debounce: exportDebounce, IdleAfter: exportIdle, Upstream: []string{"spread", "forward", "rank"}, Run: y.run},
		{Name: "index", Watches: schema.Dirty, Weak: true, Batch: 128,
			Debounce: exportDebounce, IdleAfter: exportIdle, Upstream: []string{"spread", "forward", "rerank"}, Run: x.run},
		{Name: "count", Replaces: []string{"tally"}, Watches: schema.Count, Weak: true, MaxOpen: maxPasses,
			Debounce: countDebounce, IdleAfter: countIdle, Upstream: []string{"index"}, Run: x.count},
		{Name: "settle", Watches: schema.Tiebreak, Weak: true, Debounce: settleDebounce, IdleAfter: settleIdle, Upstream: []string{"count"}, Run: settle},
	}
}

func rankObserver(part schema.PartSize, watch func(RankWork)) notify.Observer {
	x := &ranker{part: part, watch: watch}
	return notify.Observer{Name: "rank", Replaces: []string{"post"}, Watches: schema.Push, Weak: true, Batch: rankBatch, Exclusive: true, MaxOpen: 1,
		Debounce: rankDebounce, IdleAfter: exportIdle, Upstream: []string{"spread", "forward"}, Run: x.run}
}

// RankRegistry registers rank and nothing else, for benchmarks of it: watch hears what each
// run has done.
func RankRegistry(watch func(RankWork)) (*notify.Registry, error) {
	alone := rankObserver(schema.UsualPart, watch)
	alone.Upstream = nil
	return notify.NewRegistry(alone)
}
