// Package scope decides which URLs belong to a crawl, and which are a trap.
//
// Scope is what the user asked for: the seeds' pages, hosts or domains, to a depth, by
// patterns. Traps are endless pages that programs generate by accident, or to keep
// crawlers busy. Both answer with a Decision that names its rule by a stable id and
// explains it in words, so that every refusal can be counted and explained.
//
// Order of Scope's rules; the first that applies decides:
//
//	scope.exclude  an exclude pattern matches: refused, even a seed
//	scope.seed     it is a seed: taken, whatever the rules below say
//	scope.depth    more links from a seed than allowed: refused
//	scope.page, scope.host, scope.domain   outside: refused
//	scope.include  there are include patterns and none matches: refused
//	scope.page, scope.host, scope.domain, scope.any   taken
//
// Order of the rules of Traps; TrapConfig has the thresholds and what they spare:
//
//	trap.length               a URL longer than MaxLength
//	trap.segments             a path of more than MaxSegments
//	trap.repeated-segments    /a/b/a/b/a/b, or one segment again and again
//	trap.repeated-parameters  ?p=1&p=1&p=1
//	trap.session              a session id; Decision.Instead is the URL without it
//	trap.calendar             calendar pages of a far past or future
//	trap.queries              too many queries, or combinations, at one path
//	trap.none                 none of these: taken
package scope
