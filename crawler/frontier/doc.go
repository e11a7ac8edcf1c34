// Package frontier keeps in the store which URLs a crawl knows, which of them it has to
// fetch, and when. Each URL has a row of its own and a row in the queue of its host, so
// memory does not grow with the number of URLs.
//
// The observer discover adds new URLs: notifications tell it about changed links and
// redirects, and it adds the targets that are in scope. A visit moves its entry in the
// transaction that loads the fetch. So a crash loses no URL, and makes the crawl repeat
// only fetches that were under way.
package frontier
