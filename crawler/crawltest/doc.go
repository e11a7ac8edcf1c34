// Package crawltest crawls webs on loopback from end to end: crawler, fetcher,
// frontier, repository and archive as the product combines them, against real servers.
// Tests read what the crawl did from the servers' logs and never ask the crawler.
//
// A web is text in the form of package sites. A host is written NAME.ipN, and is served
// at 127.0.0.N with a port of its own, so hosts with the same N share an address. Hosts
// of https URLs have a certificate of the web's own authority, and speak HTTP/2. If a
// URL has several responses, the server uses the last one whose date has come (see
// Web.At). Some header fields control the test and are not sent:
//
//	X-Serve: gzip         with this content coding (or br, zstd, deflate)
//	X-Serve: slow 30ms    after this time
//	X-Serve: short 100    a hundred bytes fewer than Content-Length promises
//	X-Serve: long 100     a hundred bytes more than it promises
//	X-Serve: hang         never
//	X-Serve: drop         a connection that is closed without a byte
//	X-Serve: bomb br      16 MiB of spaces after the body, compressed; the default is gzip
//	X-Serve: as br        noise that claims to have this coding
//	X-Serve: loris        and other attacks: see hostile.go
//	X-Expect: 3           how often the page has to be requested; default 1
//	X-Index: no           whether the index must contain it; by default it does if it has
//	                      status 200
//
// A fetch that failed is served as a connection that ends within the status line. The
// path /* means all paths that the host's text does not name; without it they are 404s.
package crawltest
