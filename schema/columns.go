package schema

import (
	"indexer/notify"
	"indexer/txn"
)

// The locality groups. What is read together is stored together; what is large
// and rarely read (bodies, texts) is not in the way of what is small.
const (
	GroupApp     = "app"    // one row for each fact about the repository as a whole
	GroupFetch   = "fetch"  // URL rows: what was fetched
	GroupBody    = "body"   // URL rows: the body
	GroupDoc     = "doc"    // URL rows: what the body says
	GroupURL     = "url"    // URL rows: small facts that clustering reads
	GroupPointer = "lead"   // pair rows: source leads, or would lead, to target
	GroupLink    = "link"   // pair rows: source links to target
	GroupMember  = "member" // cluster rows with URL: members of the cluster
	GroupIndex   = "index"  // cluster rows: the index document
	GroupRank    = "rank"   // URL rows: rank, and what it is made of
	GroupChoice  = "choice" // cluster rows: contested canonical URLs
	// GroupSummary has, for giant clusters, summaries of runs of member rows
	GroupSummary = "section"
)

// Groups lists the locality groups of the application.
func Groups() []string {
	return []string{
		GroupApp, GroupFetch, GroupBody, GroupDoc, GroupURL, GroupPointer, GroupLink, GroupMember, GroupIndex, GroupRank, GroupChoice,
		GroupSummary,
		GroupFrontier, GroupQueue, GroupHost, GroupSeed,
		notify.DeadGroup,
	}
}

// The columns. (w: written by, o: observed by)
var (
	// FetchTime is the time and body digest of the fetch in force. Unobserved: an
	// unchanged page renews it and wakes nobody. w: loader
	FetchTime = txn.Column{Group: GroupFetch, Name: "time"}
	// FetchContent is everything else the fetch in force said, but for the body.
	// w: loader; o: document
	FetchContent = txn.Column{Group: GroupFetch, Name: "content"}
	// FetchSeen is the time of the newest revisit. w: loader
	FetchSeen = txn.Column{Group: GroupFetch, Name: "seen"}
	// FetchFailure is the newest failed fetch. w: loader
	FetchFailure = txn.Column{Group: GroupFetch, Name: "failure"}
	// Body is the body of the fetch in force, if it can be a page. w: loader
	Body = txn.Column{Group: GroupBody, Name: "body"}

	// Text is title, text and language of a page. w: document
	Text = txn.Column{Group: GroupDoc, Name: "text"}
	// Links are the counting links of a page, in parts. w: document; o: links
	Links = txn.Column{Group: GroupDoc, Name: "links"}
	// Frames are the addresses of a page's frames, where it has any. w: document
	Frames = txn.Column{Group: GroupDoc, Name: "frames"}
	// Inverted are the links of a page as they stand in the link rows, in parts; during
	// an inversion, as they stood when it began. w: links
	Inverted = txn.Column{Group: GroupDoc, Name: "inverted"}
	// Inverting are the links that an inversion brings to the link rows, in parts.
	// w: links
	Inverting = txn.Column{Group: GroupDoc, Name: "inverting"}

	// State is outcome, directives, target and content key. w: document; o: cluster
	State = txn.Column{Group: GroupURL, Name: "state"}
	// Chain is the way from a page or redirect to its terminal. w: cluster; o: spread
	Chain = txn.Column{Group: GroupURL, Name: "walk"}
	// Propagated is how far a change of Chain was passed on to what leads here. w: spread
	Propagated = txn.Column{Group: GroupURL, Name: "spread"}
	// Inversion is how far the links of a page that has very many were brought to the
	// link rows. w: links
	Inversion = txn.Column{Group: GroupURL, Name: "inversion"}
	// Pending are targets of changed links whose clusters are not told yet.
	// w: links, forward
	Pending = txn.Column{Group: GroupURL, Name: "pending"}
	// NotifyTargets is never written; a weak notification says that Pending was.
	// o: forward
	NotifyTargets = txn.Column{Group: GroupURL, Name: "forward"}

	// Pointer marks a pair row. w: document
	Pointer = txn.Column{Group: GroupPointer, Name: "x"}
	// Anchors of a pair row are the anchors of the links from source to target, in
	// parts. w: links
	Anchors = txn.Column{Group: GroupLink, Name: "a"}
	// Member marks a member's row. w: cluster
	Member = txn.Column{Group: GroupMember, Name: "x"}

	// Indexed is the index document of a cluster as it was last exported. w: index
	Indexed = txn.Column{Group: GroupIndex, Name: "doc"}
	// Dirty is never written; a weak notification says that something the index
	// document is made of has changed. o: index
	Dirty = txn.Column{Group: GroupIndex, Name: "dirty"}

	// Count is never written; a weak notification says that the inlinks of a cluster
	// that has many have to be counted. o: count
	Count = txn.Column{Group: GroupIndex, Name: "count"}
	// Ranked is never written; a weak notification at a member row says that the rank of
	// the member has changed, or that it has come or gone, and at a cluster row that the
	// cluster is to be ranked. o: rerank
	Ranked = txn.Column{Group: GroupIndex, Name: "ranked"}

	// RankState is a URL's rank with what it is made of. w: rank
	RankState = txn.Column{Group: GroupRank, Name: "mass"}
	// Edges are where a URL passes rank to, as it last did, in parts. w: rank
	Edges = txn.Column{Group: GroupRank, Name: "edges"}
	// Correction is what is to be added to what has come in at a URL. w: repository, rank
	Correction = txn.Column{Group: GroupRank, Name: "correction"}
	// Push is never written; a weak notification says that edges of a URL have changed,
	// or that it has more to pass on; at AppRow, that there is a journal. o: rank
	Push = txn.Column{Group: GroupRank, Name: "push"}

	// RankJournal says which parts of the journal of rank have still to be applied. Each run
	// of rank writes it or gets it for update. w: rank
	RankJournal = txn.Column{Group: GroupApp, Name: "rank-journal"}
	// RankPart is a part of the journal, at a row of its own (JournalRow). w: rank
	RankPart = txn.Column{Group: GroupApp, Name: "rank-part"}

	// Choice is the canonical URL of a cluster whose ranks are not known well enough to
	// tell, by better ones. w: rerank, index, settle
	Choice = txn.Column{Group: GroupChoice, Name: "x"}
	// Tiebreak is never written; a weak notification says that choices may have become
	// others. o: settle
	Tiebreak = txn.Column{Group: GroupApp, Name: "settle"}

	// Summary is what is known of some members of a giant cluster. w: rerank
	Summary = txn.Column{Group: GroupSummary, Name: "x"}

	// RankTolerance is the relative error of ranks that the observers keep. w: repository
	RankTolerance = txn.Column{Group: GroupApp, Name: "rank-tolerance"}
	// IndexID is the identity of the index files that Indexed describes and, after a space, how many
	// transactions they had applied when the repository was last closed. w: repository
	IndexID = txn.Column{Group: GroupApp, Name: "index-id"}
	// Interpreted is the page.InterpretVersion by which stored pages were interpreted.
	// w: repository
	Interpreted = txn.Column{Group: GroupApp, Name: "interpret-version"}
)

// AppRow is the row of facts about the whole repository.
const AppRow = "repository"
