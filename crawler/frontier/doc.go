// Package frontier keeps in the repository which URLs a crawl knows, which of them it
// has to fetch, and when. Each URL has a row of its own, and a row in the queue of its
// host. Memory does not grow with the number of URLs.
//
// New URLs come from the observer discover: notifications tell it of changed links and
// redirects, and it adds the targets that are in scope. A visit moves the entry in the
// transaction that loads the fetch, so a crash neither loses a URL nor fetches one
// twice, except for those under way.
package frontier
