// Package loader writes fetches into the repository, each in a transaction of its own,
// whose writes wake the observers. The loader does not interpret fetches except to break
// a tie (decidesOver).
//
// It implements semantics.md section 2: among the fetches of a URL that have a payload
// and did not fail, the newest by fetch time decides, whatever the order of arrival. A
// fetch with the same content as the one in force renews its time, in a column without
// observers.
//
//	writes   fetch:time, fetch:content, body:body of the fetch in force;
//	         fetch:seen (newest revisit), fetch:failure (newest failure)
//	wakes    document (fetch:content), only if the content is new
package loader
