package observers

import (
	"slices"
	"time"

	"indexer/notify"
	"indexer/schema"
)

// exportHold is how long changes of one cluster may gather while pages stream in;
// see notify.Observer.Hold. Each page found later adds to the anchors of those that
// it links to, and full-text entries are written whole. So a document appears ten
// seconds after its page was loaded at the latest, and is written anew every fifty.
//
// That is for a load without pauses. Where fifty milliseconds pass between pages
// (exportLinger), as in a crawl that is polite to a few hosts, documents are exported
// right then.
const (
	exportHold   = 50 * time.Second
	exportLinger = 50 * time.Millisecond
)

// rankHold is the same for ranks: what many pages pass on, and what follows from it,
// costs little more than what one of them does.
const rankHold = 50 * time.Second

// countDebounce and countIdle are the same for documents whose inlinks are counted in a
// pass of many runs, some seconds in all: in a crawl that finds a page every ten seconds
// such a document is up to a minute old.
const (
	countDebounce = 50 * time.Second
	countIdle     = 10 * time.Second
)

// settleHold and settleLinger are the same for choices that need ranks of the whole
// graph: they are made when the pipeline has come to rest.
const (
	settleHold   = time.Minute
	settleLinger = time.Second
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
		{Name: "spread", Watches: schema.Walk, Batch: 32, Upstream: []string{"cluster"}, Run: spread},
		{Name: "links", Watches: schema.Links, Batch: 8, Upstream: []string{"document"}, Run: (&linker{part}).run},
		{Name: "forward", Watches: schema.Forward, Weak: true, Batch: 16, Upstream: []string{"links"}, Run: (&forwarder{part}).run},
		rankObserver(part, nil),
		{Name: "rerank", Watches: schema.Ranked, Weak: true, Batch: 256, Exclusive: true,
			Debounce: exportHold, IdleAfter: exportLinger, Upstream: []string{"spread", "forward", "rank"}, Run: y.run},
		{Name: "index", Watches: schema.Dirty, Weak: true, Batch: 128,
			Debounce: exportHold, IdleAfter: exportLinger, Upstream: []string{"spread", "forward", "rerank"}, Run: x.run},
		{Name: "count", Replaces: []string{"tally"}, Watches: schema.Count, Weak: true, MaxOpen: maxPasses,
			Debounce: countDebounce, IdleAfter: countIdle, Upstream: []string{"index"}, Run: x.count},
		{Name: "settle", Watches: schema.Settle, Weak: true, Debounce: settleHold, IdleAfter: settleLinger, Upstream: []string{"count"}, Run: settle},
	}
}

func rankObserver(part schema.PartSize, watch func(RankWork)) notify.Observer {
	x := &ranker{part: part, watch: watch}
	return notify.Observer{Name: "rank", Replaces: []string{"post"}, Watches: schema.Push, Weak: true, Batch: rankBatch, Exclusive: true, MaxOpen: 1,
		Debounce: rankHold, IdleAfter: exportLinger, Upstream: []string{"spread", "forward"}, Run: x.run}
}

// RankRegistry registers rank and nothing else, for benchmarks of it: watch hears what each
// run has done.
func RankRegistry(watch func(RankWork)) (*notify.Registry, error) {
	alone := rankObserver(schema.UsualPart, watch)
	alone.Upstream = nil
	return notify.NewRegistry(alone)
}
