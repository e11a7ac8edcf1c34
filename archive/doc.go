// Package archive records what a crawl fetches as WARC/1.1 files, for other tools
// and for replay: a warcinfo record first, then for each exchange its request and
// its response as received, 304s as revisits; beside each file a CDXJ index.
//
// An exchange is handed to the operating system before the fetch is loaded. So
// whatever the repository knows is in the archive too, also after a kill: replaying
// the archive gives the same index. A file has its name once it is complete; until
// then it is called NAME.open. What a killed run left is completed when the next one
// begins: a record that was cut is taken off, so that other tools can read the file
// to its end, and the index is made.
package archive
