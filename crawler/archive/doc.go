// Package archive records what a crawl fetches as WARC/1.1 files, for other tools and for
// replay. Each file begins with a warcinfo record. Each exchange follows with its request
// and its response as received; a 304 becomes a revisit record. Next to each file is a CDXJ
// index.
//
// The archive hands an exchange to the operating system before the fetch is loaded. So it
// contains every fetch of the repository, even after a kill, and replaying it gives the same
// index. A file gets its name when it is complete; until then its name is NAME.open. The
// next run loads the fetches of such a file that were not loaded (EachLeft), and completes
// what a killed run or a failed write left: it cuts off a partial record, so that other tools
// can read the file to its end, and writes the index.
package archive
