package schema

import (
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/txn"
)

// The locality groups. Columns that are read together are stored together; large values
// that are rarely read (bodies, texts) are kept apart from small values.
const (
	GroupApp     = "app"    // facts about the repository as a whole
	GroupFetch   = "fetch"  // URL rows: the fetch in force
	GroupBody    = "body"   // URL rows: its body
	GroupDoc     = "doc"    // URL rows: what the page says
	GroupURL     = "url"    // URL rows: small facts that clustering reads
	GroupPointer = "lead"   // pair rows: source redirects to target, or names it as canonical
	GroupLink    = "link"   // pair rows: source links to target
	GroupMember  = "member" // cluster rows with URL: members of the cluster
	GroupIndex   = "index"  // cluster rows: the index document
	GroupRank    = "rank"   // URL rows: rank state and edges
	GroupChoice  = "choice" // cluster rows: contested canonical URLs
	// GroupSummary holds the member summaries of giant clusters.
	GroupSummary = "section"
)

// Groups lists the locality groups of the application.
func Groups() []string {
	return []string{
		GroupApp, GroupFetch, GroupBody, GroupDoc, GroupURL, GroupPointer, GroupLink, GroupMember, GroupIndex, GroupRank, GroupChoice,
		GroupSummary,
		GroupFrontier, GroupQueue, GroupHost, GroupSeed,
		GroupRender, GroupShot, GroupNeed,
		GroupIcon,
		notify.DeadGroup,
	}
}

// Scanned reports whether scans read the rows of a group as a set: pairs and members.
func Scanned(group string) bool {
	switch group {
	case GroupPointer, GroupLink, GroupMember, GroupNeed:
		return true
	}
	return false
}

// The columns. "w:" names who writes a column, "o:" the observer that watches it.
var (
	// FetchTime is the time and body digest of the fetch in force. Nothing observes it: a
	// fetch of an unchanged page sends Refreshed instead. w: loader
	FetchTime = txn.Column{Group: GroupFetch, Name: "time"}
	// FetchContent is everything else in the fetch in force, except the body.
	// w: loader; o: document
	FetchContent = txn.Column{Group: GroupFetch, Name: "content"}
	// FetchSeen is the time of the newest revisit. w: loader
	FetchSeen = txn.Column{Group: GroupFetch, Name: "seen"}
	// Refreshed is never written; a weak notification says that a fetch of an unchanged page
	// has renewed FetchTime or FetchSeen. o: refresh
	Refreshed = txn.Column{Group: GroupFetch, Name: "refreshed"}
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
	// Inverted are the links of a page that the link rows hold, in parts; during an
	// inversion, the links that they held when it began. w: links, document
	Inverted = txn.Column{Group: GroupDoc, Name: "inverted"}
	// Inverting are the links that an inversion is writing to the link rows, in parts.
	// w: links
	Inverting = txn.Column{Group: GroupDoc, Name: "inverting"}

	// State is outcome, directives, target and content key. w: document; o: cluster
	State = txn.Column{Group: GroupURL, Name: "state"}
	// Chain is the chain from a page or redirect to its terminal. w: cluster, document;
	// o: spread
	Chain = txn.Column{Group: GroupURL, Name: "walk"}
	// Propagated is how far a change of Chain was passed on to the URLs that lead here.
	// w: spread
	Propagated = txn.Column{Group: GroupURL, Name: "spread"}
	// Inversion is how far an inversion has come, on a page with very many links.
	// w: links
	Inversion = txn.Column{Group: GroupURL, Name: "inversion"}
	// Pending are targets of changed links whose clusters have not been woken yet.
	// w: links, forward
	Pending = txn.Column{Group: GroupURL, Name: "pending"}
	// NotifyTargets is never written; a weak notification says that Pending was written.
	// o: forward
	NotifyTargets = txn.Column{Group: GroupURL, Name: "forward"}

	// Pointer marks a pair row: the source leads to the target. w: document
	Pointer = txn.Column{Group: GroupPointer, Name: "x"}
	// Anchors of a pair row are the anchors of the links from source to target, in
	// parts. w: links, document
	Anchors = txn.Column{Group: GroupLink, Name: "a"}
	// Member marks a member's row. w: cluster, document
	Member = txn.Column{Group: GroupMember, Name: "x"}

	// Indexed is the index document of a cluster as it was last exported. w: index, count,
	// rerank
	Indexed = txn.Column{Group: GroupIndex, Name: "doc"}
	// Dirty is never written; a weak notification says that something on which the index
	// document depends has changed. o: index
	Dirty = txn.Column{Group: GroupIndex, Name: "dirty"}

	// Count is never written; a weak notification says that a cluster has so many inlinks
	// that they have to be counted in several runs. o: count
	Count = txn.Column{Group: GroupIndex, Name: "count"}
	// Ranked is never written. A weak notification at a member row says that the member
	// has come or gone, or that its rank has changed; at a cluster row, that the cluster
	// has to be ranked. o: rerank
	Ranked = txn.Column{Group: GroupIndex, Name: "ranked"}

	// Touched is never written; a weak notification says that a member of a cluster has a
	// renewed fetch time. It is used only where index files are divided into shards. w:
	// refresh; o: touch
	Touched = txn.Column{Group: GroupIndex, Name: "touched"}

	// RankState is the rank state of a URL. w: rank
	RankState = txn.Column{Group: GroupRank, Name: "mass"}
	// Edges are the URLs to which a URL last passed rank, in parts. w: rank
	Edges = txn.Column{Group: GroupRank, Name: "edges"}
	// Correction is to be added to the rank that has come in at a URL. w: repository, rank
	Correction = txn.Column{Group: GroupRank, Name: "correction"}
	// Push is never written. A weak notification says that the edges of a URL have changed,
	// or that it has a residual to pass on; at AppRow, that there is a journal. o: rank
	Push = txn.Column{Group: GroupRank, Name: "push"}

	// RankJournal says which parts of the journal of rank are still to be applied. Each run
	// of rank writes it or reads it for update. w: rank
	RankJournal = txn.Column{Group: GroupApp, Name: "rank-journal"}
	// RankPart is a part of the journal, in its own row (JournalRow). w: rank
	RankPart = txn.Column{Group: GroupApp, Name: "rank-part"}

	// Choice is the canonical URL of a contested cluster, by ranks that are more exact than
	// the published ones. w: rerank, index, settle
	Choice = txn.Column{Group: GroupChoice, Name: "x"}
	// Tiebreak is never written; a weak notification says that ties of contested clusters
	// have to be broken, or broken again. o: settle
	Tiebreak = txn.Column{Group: GroupApp, Name: "settle"}

	// Summary is a member summary of a giant cluster. w: rerank
	Summary = txn.Column{Group: GroupSummary, Name: "x"}

	// RankTolerance is the relative error that published ranks may have. w: repository
	RankTolerance = txn.Column{Group: GroupApp, Name: "rank-tolerance"}
	// IndexID is the identity of the index files that Indexed describes and, after a space,
	// how many transactions they had applied when the repository was last closed. (Earlier
	// versions also noted the sum and number of their documents.) w: repository
	IndexID = txn.Column{Group: GroupApp, Name: "index-id"}
	// IndexSum is the number of documents of Indexed and the sum of their digests, without
	// the parts that have not been moved here yet; IndexSumPart, in its own row
	// (IndexSumRow), is the addend of one transaction that has not been moved yet. w:
	// index, count, repository
	IndexSum     = txn.Column{Group: GroupApp, Name: "index-sum"}
	IndexSumPart = txn.Column{Group: GroupApp, Name: "index-sum-part"}
	// IndexShards is the number of shards into which the index files are divided and, after a
	// space, an identity that the files of all shards refer to. w: repository
	IndexShards = txn.Column{Group: GroupApp, Name: "index-shards"}
	// OtherIndexID is the identity of the index, other than index files, to which documents
	// are exported. w: repository
	OtherIndexID = txn.Column{Group: GroupApp, Name: "other-index-id"}
	// Closed has the counts of the repository when it was last closed, in JSON. CountsPart, in
	// separate rows (CountsRow), has a part of the counts of ranges of rows. w: repository
	Closed     = txn.Column{Group: GroupApp, Name: "closed"}
	CountsPart = txn.Column{Group: GroupApp, Name: "counts-part"}
	// Office is the FormatSetting of office documents. w: repository
	Office = txn.Column{Group: GroupApp, Name: "office"}
	// PDF is the FormatSetting of PDF documents. w: repository
	PDF = txn.Column{Group: GroupApp, Name: "pdf"}
	// Interpreted is the page.InterpretVersion with which the stored pages were
	// interpreted. w: repository
	Interpreted = txn.Column{Group: GroupApp, Name: "interpret-version"}
)

// AppRow is the row that holds facts about the whole repository.
const AppRow = "repository"
