package pipelinebench

import "github.com/webindexer/indexer/bench/profile"

// rules divide a load into parts, by functions of the program and of its libraries.
var rules = []profile.Rule{
	{Part: "Go garbage collection", Anywhere: true, Functions: []string{
		"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.gcStart", "runtime.gcMark", "runtime.bgsweep", "runtime.bgscavenge",
		"runtime.sweepone", "runtime.(*sweepLocked).sweep", "runtime.deductSweepCredit", "runtime.(*mheap).reclaim", "runtime.wbBufFlush"}},
	{Part: "Badger compaction", Anywhere: true, Functions: []string{
		badger + "(*levelsController).runCompactor", badger + "(*levelsController).doCompact", badger + "(*levelsController).runCompactDef",
		badger + "(*levelsController).compactBuildTables", badger + "(*levelsController).subcompact"}},
	{Part: "Badger flush of memtables", Anywhere: true, Functions: []string{
		badger + "(*DB).flushMemtable", badger + "(*DB).handleMemTableFlush", badger + "buildL0Table", badger + "(*levelsController).addLevel0Table"}},
	{Part: "collection of versions", Anywhere: true, Functions: []string{"github.com/webindexer/indexer/txn.(*Collector)", "github.com/webindexer/indexer/txn.(*DB).Collect", "github.com/webindexer/indexer/txn.(*DB).collect"}},
	{Part: "FTS5", Anywhere: true, Functions: []string{"modernc.org/sqlite/lib._fts5", "modernc.org/sqlite/lib._sqlite3Fts5"}},
	{Part: "Badger write", Anywhere: true, Functions: []string{
		badger + "(*DB).doWrites", badger + "(*DB).writeRequests", badger + "(*DB).writeToLSM", badger + "(*DB).sendToWriteCh", "github.com/webindexer/indexer/store/badgerdb.(*committer)"}},
	{Part: "opening", Anywhere: true, Functions: []string{"github.com/webindexer/indexer/repository.Open"}},

	{Part: "language detection", Functions: []string{"github.com/abadojack/whatlanggo.", "github.com/webindexer/indexer/page.detectLanguage"}},
	{Part: "parsing", Functions: []string{
		"github.com/webindexer/indexer/page.", "golang.org/x/net/", "golang.org/x/text/", "github.com/andybalholm/cascadia.", "github.com/PuerkitoBio/goquery.", "github.com/nlnwa/whatwg-url"}},
	{Part: "reading WARC", Functions: []string{
		"github.com/webindexer/indexer/warc.", "github.com/webindexer/indexer/internal/coding.", "github.com/webindexer/indexer/loader/replay.(*source)", "github.com/klauspost/compress/gzip.", "github.com/klauspost/compress/flate.",
		"github.com/webindexer/indexer/bench/pipelinebench.readPlain", "net/http.", "net/textproto.", "crypto/sha1."}},
	{Part: "compression", Functions: []string{"github.com/klauspost/compress/"}},
	{Part: "tokens and stems", Functions: []string{"github.com/webindexer/indexer/index/analysis.", "github.com/blevesearch/snowballstem"}},
	{Part: "SQLite", Functions: []string{"modernc.org/", "database/sql.", "github.com/webindexer/indexer/index/cksumvfs."}},
	{Part: "index files", Functions: []string{"github.com/webindexer/indexer/index"}},
	{Part: "Badger read", Functions: []string{"github.com/dgraph-io/"}},
	{Part: "store", Functions: []string{"github.com/webindexer/indexer/store"}},
	{Part: "transactions", Functions: []string{"github.com/webindexer/indexer/txn."}},
	{Part: "notifications", Functions: []string{"github.com/webindexer/indexer/notify."}},
	{Part: "encoding of rows", Functions: []string{"github.com/webindexer/indexer/schema.", "github.com/webindexer/indexer/internal/wire."}},
	{Part: "ranks", Functions: []string{"github.com/webindexer/indexer/observers/pagerank.", "github.com/webindexer/indexer/internal/rank.", "github.com/webindexer/indexer/observers.(*ranker)", "github.com/webindexer/indexer/observers.(*reranker)"}},
	{Part: "observers", Functions: []string{"github.com/webindexer/indexer/observers"}},
	{Part: "loading", Functions: []string{"github.com/webindexer/indexer/loader"}},
	{Part: "repository", Functions: []string{"github.com/webindexer/indexer/repository"}},
	{Part: "scheduling", Functions: []string{"runtime.mcall", "runtime.schedule", "runtime.mstart", "runtime.goexit0", "runtime.sysmon"}},
}

const badger = "github.com/dgraph-io/badger/v4."

// stagePackages are those whose outermost function on a stack names the stage of the
// pipeline that the work was done for.
var stagePackages = []string{"github.com/webindexer/indexer/observers", "github.com/webindexer/indexer/loader", "github.com/webindexer/indexer/index", "github.com/webindexer/indexer/txn.(*Collector)", "github.com/webindexer/indexer/store", badger, "github.com/webindexer/indexer/repository", "runtime.gcBgMarkWorker"}
