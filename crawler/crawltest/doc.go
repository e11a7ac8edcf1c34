// Package crawltest crawls webs on loopback from end to end: crawler, fetcher,
// frontier, repository and archive as the product puts them together, against real
// servers. What the crawl did is read from the servers' logs, never asked of the
// crawler.
//
// A web is text in the form of package sites. A host is written NAME.ipN, and is
// served at 127.0.0.N with a port of its own; so hosts with one N share an address.
// Hosts of https URLs have a certificate of the web's own authority, and speak HTTP/2.
// Of several responses for one URL the server has the last whose date has come (see
// Web.At). Two header fields are the test's own and are not sent:
//
//	X-Serve: gzip         with this content coding (or br, zstd, deflate)
//	X-Serve: slow 30ms    after so long
//	X-Serve: short 100    a hundred bytes fewer than Content-Length promises
//	X-Serve: long 100     a hundred bytes more than it promises
//	X-Serve: hang         never
//	X-Serve: drop         a connection that is closed without a byte
//	X-Serve: bomb br      16 MiB of spaces behind the body, compressed; gzip if it is not said
//	X-Serve: as br        noise that is said to have this coding
//	X-Serve: loris        and other attacks: see hostile.go
//	X-Expect: 3           how often the page is to be requested; 1 where it is not said
//	X-Index: no           whether it is to be found in the index; where it is not said, what
//	                      has status 200 is
//
// A fetch that failed is served as a connection that is cut within the status line. The path /* stands for
// all that the host's text does not name; without it they are 404s.
package crawltest
