// Package archive records what a crawl fetches as WARC/1.1 files, for other tools and
// for replay. Each file begins with a warcinfo record. Each exchange follows with its
// request and its response as received, 304s as revisit records. Each file has a CDXJ
// index next to it.
//
// An exchange is handed to the operating system before the fetch is loaded. So the
// archive has whatever the repository knows, even after a kill: replaying the archive
// gives the same index. A file gets its name once it is complete; until then it is
// called NAME.open. The next run completes what a killed run left: it cuts off a
// partial record, so that other tools can read the file to its end, and writes the
// index.
package archive
