package lint

import (
	"fmt"
	"slices"
	"strings"
)

// Arrow says what a package may import of the project, in code that is not a
// test. What is under a package counts as the package unless it has an arrow of
// its own.
type Arrow struct {
	Package string
	May     []string
	Why     string // completes "…, because"
}

// Arrows lists the packages from the bottom to the top.
var Arrows = []Arrow{
	{"internal/sleep", nil, "it waits, whatever for"},
	{"store", []string{"store", "internal/sleep"}, "a table knows neither transactions nor the web: other engines and other programs can use it"},
	{"store/engines", []string{"store"}, "it opens whichever engine a setting names, and is the only one to import the clients of them all"},
	{"internal/wire", nil, "it reads fields of records, whatever they are of"},
	{"internal/longjson", nil, "it writes objects, whatever they are of"},
	{"internal/fault", nil, "a fault of mapped memory ends any program in the same way"},
	{"internal/cache", nil, "it keeps values in memory, whatever they are"},
	{"internal/coding", nil, "content codings mean the same whoever removes them"},
	{"internal/humanize", nil, "it writes durations and numbers, whatever of"},
	{"internal/unanswered", nil, "it explains errors of calls, whatever is called"},
	{"txn", []string{"store", "internal/wire", "internal/sleep"}, "transactions work on any store and know nothing of the web"},
	{"oracle", []string{"txn", "store", "internal/sleep"}, "it hands out timestamps for any table, and knows nothing of networks or lock services"},
	{"oracle/remote/oraclepb", nil, "messages are generated from their description"},
	{"oracle/remote", []string{"oracle", "oracle/remote/oraclepb", "txn", "internal/unanswered", "internal/sleep"}, "the service around an oracle; the only one that imports gRPC for it"},
	{"oracle/etcd", []string{"oracle"}, "tokens in etcd; the only one that imports its client"},
	{"notify", []string{"txn", "store", "internal/sleep"}, "observers as a framework know nothing of what is observed"},
	{"lease", []string{"notify", "txn", "store", "internal/sleep"}, "who owns what is decided in a table, whatever is owned"},
	{"page", nil, "page is the leaf that observers and the verifying batch share; what it imported, both would depend on"},
	{"internal/osfile", nil, "it writes files, whatever is in them"},
	{"render", []string{"page", "internal/osfile"}, "a browser is given fetches by whoever has them, and knows nothing of where they are stored"},
	{"warc", []string{"page", "internal/coding"}, "a reader of files hands over fetches and knows nothing of where they go"},
	{"crawler/partition", []string{"page"}, "which crawler asks a host follows from names alone"},
	{"crawler", []string{"page", "internal/coding", "internal/humanize", "crawler/partition"}, "a crawler hands over fetches and knows nothing of where they go"},
	{"index/sketch", nil, "a sketch is made of words and compared with others, whatever they are words of"},
	{"export", []string{"page", "warc", "index/sketch", "internal/longjson"}, "formats are of records; where these come from is its users' affair"},
	{"index/cksumvfs", nil, "it puts checksums on pages, whatever is on them"},
	{"index/postings", nil, "it decodes the inverted index of any FTS5 table"},
	{"index/analysis", []string{"page"}, "documents, queries and snippets are analysed alike, so analysis knows none of them"},
	{"index/query", []string{"index/analysis", "index/postings", "internal/wire"}, "a query is understood without an index; only the columns of posting lists are named in it"},
	{"index/snippet", []string{"page", "index/sketch", "index/analysis", "index/query"}, "a snippet is cut from a text for the words of a query, wherever the text is stored"},
	{"index/spelling", []string{"index/analysis"}, "it compares words, wherever they are stored"},
	{"index/completion", []string{"index/analysis"}, "it completes what somebody types from a list of texts, wherever these are stored"},
	{"index/search", []string{"page", "index/sketch", "index/analysis", "index/query", "index/snippet", "index/spelling", "index/completion", "index/postings", "internal/cache"}, "it asks shards and ranks what they find, whatever keeps the documents"},
	{"index", []string{"page", "index/search", "index/sketch", "index/analysis", "index/query", "index/snippet", "index/spelling", "index/completion", "index/postings", "index/cksumvfs", "internal/cache"}, "the index files are read without the store, by processes that have no repository"},
	{"index/opensearch", []string{"page", "index", "index/search", "index/analysis", "index/query", "index/sketch", "index/spelling", "internal/cache"}, "the index on a search server; the only one that speaks its protocol"},
	{"index/shardrpc", []string{"index/search", "internal/unanswered"}, "it carries the questions of a search between processes, and gRPC must not be linked where nobody asks"},
	{"internal/rank", nil, "it solves a graph of numbers, whatever they stand for"},
	{"verify/batch", []string{"page", "internal/rank"}, "the second opinion must share nothing with the observers but what a page is, and how a whole graph is solved"},
	{"internal/sites", []string{"page", "warc"}, "small webs are packed into WARC files, and nothing else"},
	{"schema", []string{"page", "internal/rank", "notify", "txn", "store", "internal/wire"}, "rows and columns are spelled in one place, by which all others read and write"},
	{"pdf", nil, "it has documents read in other processes, and knows nothing of where they come from"},
	{"pdf/convert", []string{"pdf"}, "it turns a document into HTML; the only one that imports PDFium"},
	{"loader", []string{"page", "pdf", "schema", "txn", "store", "internal/sleep"}, "the loader writes fetches and interprets nothing"},
	{"crawler/archive", []string{"page", "warc", "crawler"}, "it writes down what a crawler fetched, whatever becomes of it"},
	{"crawler/division", []string{"page", "schema", "crawler/partition", "txn", "store"}, "it divides hosts among processes in a table, and knows nothing of how they are asked"},
	{"crawler/frontier", []string{"page", "crawler", "schema", "loader", "notify", "txn", "store", "internal/humanize"}, "it keeps in the store what the crawler asks for, and knows nothing of how pages are fetched"},
	{"observers/document", []string{"page"}, "it computes what is shown of a cluster from what a reader hands over; where that is stored, and when it is read, is its users' affair"},
	{"observers/pagerank", []string{"internal/rank", "internal/wire"}, "it passes ranks along a graph of named nodes; where the graph is stored and when ranks are passed on is its users' affair"},
	{"observers/cluster", []string{"page", "internal/rank"}, "it decides about members and ranks that it is handed; where they are stored is its users' affair"},
	{"observers", []string{"page", "schema", "index", "internal/rank", "observers/cluster", "observers/document", "observers/pagerank", "notify", "txn", "internal/wire"}, "observers work in transactions only, on any engine"},
	{"internal/trace", []string{"page", "schema", "observers", "notify", "txn"}, "it tells what became of a page from what lies in the table, and changes nothing"},
	{"repository/snapshot", []string{"page", "schema", "export", "observers", "observers/cluster", "txn"}, "it reads one moment of a store, whatever the reader wants to know"},
	{"repository/counts", []string{"page", "schema", "observers", "observers/pagerank", "txn", "store", "internal/wire"}, "it adds up what one snapshot holds, and keeps the sums"},
	{"repository/inspect", []string{"page", "schema", "observers", "repository/snapshot", "notify", "txn", "internal/wire"}, "it answers questions about URLs from the store alone, so whoever has a store can ask"},
	{"repository/feed", []string{"page", "schema", "index/analysis", "index/sketch", "export", "internal/rank", "observers", "repository/snapshot", "txn"}, "it reads what exports write from the store alone"},
	{"repository", []string{"page", "render", "schema", "index", "index/search", "export", "internal/rank", "internal/sleep", "loader", "observers", "observers/pagerank", "repository/snapshot", "repository/counts", "repository/inspect", "repository/feed", "internal/osfile", "internal/humanize", "internal/trace", "lease", "notify", "txn", "store"}, "it puts the parts of a data directory together, and is below whatever uses it"},
	{"verify", []string{"page", "schema", "index", "internal/rank", "verify/batch", "observers", "observers/cluster", "observers/document", "observers/pagerank", "repository", "repository/snapshot", "repository/counts", "notify", "txn"}, "it compares a repository with a batch, and the counts that are kept with a scan"},
	{"verify/verifytest", []string{"page", "internal/sites", "repository", "verify"}, "it loads and verifies a repository for tests of whatever that is stored in"},
	{"loader/replay", []string{"page", "warc", "loader"}, "it hands recorded fetches to whatever loads them"},
	{"examples", []string{"store", "txn", "notify"}, "they show that tables, transactions and observers serve other applications"},
	{"internal/config", []string{"internal/humanize"}, "settings are plain values; who uses them turns them into options"},
	{"internal/control", []string{"internal/osfile"}, "it carries requests and outputs; what they mean is its users' affair"},
	{"internal/progress", nil, "it shows numbers; where they come from is its users' affair"},
	{"internal/tcpproxy", nil, "it passes bytes on, whatever they mean"},
	{"web/assets", nil, "pages share a style sheet and a frame, whatever they show"},
	{"web/browsertest", nil, "it drives a browser, whatever that shows"},
	{"web/live", []string{"notify", "observers", "repository", "web/assets"}, "it shows how the pipeline of a repository is doing, and changes nothing"},
	{"web", []string{"page", "index", "index/search", "index/query", "index/snippet", "crawler/frontier", "repository", "repository/snapshot", "repository/inspect", "txn", "web/assets", "internal/humanize"}, "it shows what a repository knows, and changes nothing"},
	{"web/remote", []string{"page", "observers", "repository", "repository/inspect", "repository/snapshot", "notify", "web", "web/live", "internal/control"}, "it asks another process for what the pages show"},
	{"bench", []string{"page", "render", "warc", "schema", "index", "index/search", "index/analysis", "index/opensearch", "internal/rank", "loader", "observers", "observers/pagerank", "notify", "txn", "store", "repository", "loader/replay", "oracle", "oracle/remote", "crawler", "crawler/frontier", "crawler/archive", "internal/config", "internal/control", "internal/sleep", "internal/tcpproxy"}, "it measures the parts; it is a program of its own, which nothing imports"},
	{"internal", nil, "rules and tools stand beside the program"},
	{"cli", []string{
		"index/shardrpc",
		"page", "pdf", "pdf/convert", "warc", "internal/sites", "index", "index/search", "index/opensearch", "export", "loader", "observers", "notify", "lease", "txn", "store", "store/engines", "oracle", "oracle/etcd", "oracle/remote",
		"internal/trace", "render", "repository", "repository/snapshot", "repository/counts", "repository/inspect", "repository/feed", "verify", "loader/replay", "internal/config", "internal/control", "internal/osfile", "internal/progress", "crawler", "crawler/division", "crawler/partition", "crawler/frontier", "crawler/archive", "web", "web/live", "web/remote", "internal/longjson", "internal/fault", "internal/humanize", "internal/sleep",
	}, "the command line wires the parts"},
	{"", []string{"cli"}, "main only calls the command line"},
}

// CheckArrows lists the imports that no arrow allows.
func CheckArrows(files []*File, arrows []Arrow) []string {
	var wrong []string
	for _, f := range files {
		if f.IsTest() || isTestSupport(f.Package()) {
			continue
		}
		a, ok := arrowOf(f.Package(), arrows)
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s: package %q has no line in internal/lint/arrows.go; add one that says what it may import, and why", f.Path, f.Package()))
			continue
		}
		for _, imported := range f.Imports() {
			if a.allows(imported, arrows) {
				continue
			}
			wrong = append(wrong, fmt.Sprintf("%s imports %s; %s may import %s, because %s", f.Path, imported, nameOf(a.Package), mayText(a.May), a.Why))
		}
	}
	return wrong
}

// allows reports whether a package may import another one. A package that has an arrow
// of its own has to be named: being below a package that is named is not enough.
func (a Arrow) allows(imported string, arrows []Arrow) bool {
	owner, _ := arrowOf(imported, arrows)
	return owner.Package == a.Package || slices.ContainsFunc(a.May, func(may string) bool {
		return within(may, imported) && within(owner.Package, may)
	})
}

// isTestSupport: suites that tests share import what they test.
func isTestSupport(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// arrowOf finds the most specific arrow for a package.
func arrowOf(pkg string, arrows []Arrow) (best Arrow, ok bool) {
	for _, a := range arrows {
		if (pkg == a.Package || a.Package != "" && within(a.Package, pkg)) && (!ok || len(a.Package) > len(best.Package)) {
			best, ok = a, true
		}
	}
	return best, ok
}

func within(parent, pkg string) bool {
	return pkg == parent || strings.HasPrefix(pkg, parent+"/")
}

func nameOf(pkg string) string {
	if pkg == "" {
		return "main"
	}
	return pkg
}

func mayText(may []string) string {
	if len(may) == 0 {
		return "no package of the project"
	}
	return strings.Join(may, ", ")
}
