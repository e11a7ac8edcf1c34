// Package frontier keeps, in the repository, which URLs are known to a crawl,
// which of them are to be fetched, and when: every one in a row of its own, and
// in the queue of its host. Nothing of it grows in memory with their number.
//
// New URLs come from observers (Discover): they hear of changed links and
// redirects through notifications, as everybody does, and add what is in scope.
// A visit moves the entry in the transaction that loads the fetch, so a crash
// neither loses a URL nor fetches one twice, but for those under way.
package frontier
