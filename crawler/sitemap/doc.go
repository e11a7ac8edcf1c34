// Package sitemap reads what sites publish to be found by: sitemaps, sitemap
// indexes and URL lists (https://www.sitemaps.org/protocol.html), RSS and Atom
// feeds, and the <link> elements of pages that name feeds, next pages and
// translations.
//
// These files are written by programs nobody looks after, and anyone may send
// one. So the reader holds to three rules:
//
//  1. Good entries survive bad neighbours. Namespaces, undeclared entities,
//     unclosed tags, wrong dates and files that end in the middle cost a Problem
//     with its place, and no entry that was readable. But a URL that may have
//     been cut short is dropped: half a URL is another URL.
//  2. A file speaks for its own host. Pages elsewhere are dropped unless
//     their site's robots.txt announced the file (cross-submission); see Reach.
//  3. Everything is bounded: size, decompressed size, entries, nesting, the length
//     of a token, the problems kept. Nothing is ever fetched from here.
package sitemap
