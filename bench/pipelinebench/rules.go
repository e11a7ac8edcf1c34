package pipelinebench

import "indexer/bench/profile"

// Rules divide a load into parts, by functions of the program and of its libraries.
var Rules = []profile.Rule{
	{Part: "Go garbage collection", Anywhere: true, Functions: []string{
		"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.gcStart", "runtime.gcMark", "runtime.bgsweep", "runtime.bgscavenge",
		"runtime.sweepone", "runtime.(*sweepLocked).sweep", "runtime.deductSweepCredit", "runtime.(*mheap).reclaim", "runtime.wbBufFlush"}},
	{Part: "Badger compaction", Anywhere: true, Functions: []string{
		badger + "(*levelsController).runCompactor", badger + "(*levelsController).doCompact", badger + "(*levelsController).runCompactDef",
		badger + "(*levelsController).compactBuildTables", badger + "(*levelsController).subcompact"}},
	{Part: "Badger flush of memtables", Anywhere: true, Functions: []string{
		badger + "(*DB).flushMemtable", badger + "(*DB).handleMemTableFlush", badger + "buildL0Table", badger + "(*levelsController).addLevel0Table"}},
	{Part: "collection of versions", Anywhere: true, Functions: []string{"indexer/txn.(*Collector)", "indexer/txn.(*DB).Collect", "indexer/txn.(*DB).collect"}},
	{Part: "FTS5", Anywhere: true, Functions: []string{"modernc.org/sqlite/lib._fts5", "modernc.org/sqlite/lib._sqlite3Fts5"}},
	{Part: "Badger write", Anywhere: true, Functions: []string{
		badger + "(*DB).doWrites", badger + "(*DB).writeRequests", badger + "(*DB).writeToLSM", badger + "(*DB).sendToWriteCh", "indexer/store/badgerdb.(*committer)"}},
	{Part: "opening", Anywhere: true, Functions: []string{"indexer/repository.Open"}},

	{Part: "language detection", Functions: []string{"github.com/abadojack/whatlanggo.", "indexer/page.detectLanguage"}},
	{Part: "parsing", Functions: []string{
		"indexer/page.", "golang.org/x/net/", "golang.org/x/text/", "github.com/andybalholm/cascadia.", "github.com/PuerkitoBio/goquery.", "github.com/nlnwa/whatwg-url"}},
	{Part: "reading WARC", Functions: []string{
		"indexer/warc.", "indexer/internal/coding.", "indexer/loader/replay.(*source)", "github.com/klauspost/compress/gzip.", "github.com/klauspost/compress/flate.",
		"indexer/bench/pipelinebench.readPlain", "net/http.", "net/textproto.", "crypto/sha1."}},
	{Part: "compression", Functions: []string{"github.com/klauspost/compress/"}},
	{Part: "tokens and stems", Functions: []string{"indexer/index/analysis.", "indexer/index.analyze", "indexer/index.(*analyzer)", "indexer/index.(*tokenizer)", "indexer/index.(*stemCache)", "github.com/blevesearch/snowballstem"}},
	{Part: "SQLite", Functions: []string{"modernc.org/", "database/sql.", "indexer/index/cksumvfs."}},
	{Part: "index files", Functions: []string{"indexer/index"}},
	{Part: "Badger read", Functions: []string{"github.com/dgraph-io/"}},
	{Part: "store", Functions: []string{"indexer/store"}},
	{Part: "transactions", Functions: []string{"indexer/txn."}},
	{Part: "notifications", Functions: []string{"indexer/notify."}},
	{Part: "encoding of rows", Functions: []string{"indexer/schema.", "indexer/internal/wire."}},
	{Part: "ranks", Functions: []string{"indexer/observers/pagerank.", "indexer/internal/rank.", "indexer/observers.(*ranker)", "indexer/observers.(*reranker)", "indexer/observers.(*wave"}},
	{Part: "observers", Functions: []string{"indexer/observers"}},
	{Part: "loading", Functions: []string{"indexer/loader"}},
	{Part: "repository", Functions: []string{"indexer/repository"}},
	{Part: "scheduling", Functions: []string{"runtime.mcall", "runtime.schedule", "runtime.mstart", "runtime.goexit0", "runtime.sysmon"}},
}

const badger = "github.com/dgraph-io/badger/v4."

// StagePackages are those whose outermost function on a stack names the stage of the
// pipeline that the work was done for.
var StagePackages = []string{"indexer/observers", "indexer/loader", "indexer/index", "indexer/txn.(*Collector)", "indexer/store", badger, "indexer/repository", "runtime.gcBgMarkWorker"}
