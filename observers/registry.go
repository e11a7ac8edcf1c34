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

// tallyHold and tallyLinger are the same for documents whose inlinks are counted in a pass of
// many runs, some seconds in all: in a crawl in which there is always a page in
// ten seconds such a document is a minute old.
const (
	tallyHold   = 50 * time.Second
	tallyLinger = 10 * time.Second
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
	rest := slices.DeleteFunc(list(sink, tracker, schema.UsualPart), func(o notify.Observer) bool {
		return o.Watches == schema.Push || o.Watches == schema.Post || o.Watches == schema.Ranked || o.Watches == schema.Settle
	})
	return notify.NewRegistry(append(rest, crawl...)...)
}

func list(sink Sink, tracker *Tracker, part schema.PartSize) []notify.Observer {
	x := &indexer{sink: sink, tracker: tracker}
	y := &reranker{sink: sink, tracker: tracker}
	return []notify.Observer{
		{Name: "document", Watches: schema.FetchContent, Batch: 4, Run: (&documenter{part}).run},
		{Name: "cluster", Watches: schema.State, Batch: 32, Run: cluster},
		{Name: "spread", Watches: schema.Walk, Batch: 32, Run: spread},
		{Name: "links", Watches: schema.Links, Batch: 8, Run: (&linker{part}).run},
		{Name: "forward", Watches: schema.Forward, Weak: true, Batch: 16, Run: (&forwarder{part}).run},
		poster,
		rankObserver(part, nil),
		{Name: "rerank", Watches: schema.Ranked, Weak: true, Batch: 256, Solo: true, Hold: exportHold, Linger: exportLinger, Run: y.run},
		{Name: "index", Watches: schema.Dirty, Weak: true, Batch: 128, Hold: exportHold, Linger: exportLinger, Run: x.run},
		{Name: "tally", Watches: schema.Tally, Weak: true, Batch: 128, Hold: tallyHold, Linger: tallyLinger, Run: x.tally},
		{Name: "count", Watches: schema.Count, Weak: true, Run: x.count},
		{Name: "settle", Watches: schema.Settle, Weak: true, Hold: settleHold, Linger: settleLinger, Run: settle},
	}
}

// poster is registered before rank, which so waits for it.
var poster = notify.Observer{Name: "post", Watches: schema.Post, Weak: true, Solo: true, Run: postJournal}

func rankObserver(part schema.PartSize, watch func(RankWork)) notify.Observer {
	x := &ranker{part: part, watch: watch}
	return notify.Observer{Name: "rank", Watches: schema.Push, Weak: true, Batch: rankBatch, Solo: true, Hold: rankHold, Linger: exportLinger, Run: x.run}
}

// RankRegistry registers rank with post and nothing else, for benchmarks of it: watch hears what
// each run has done.
func RankRegistry(watch func(RankWork)) (*notify.Registry, error) {
	return notify.NewRegistry(poster, rankObserver(schema.UsualPart, watch))
}
