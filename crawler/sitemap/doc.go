// Package sitemap reads what sites publish for crawlers: sitemaps, sitemap indexes and
// URL lists (https://www.sitemaps.org/protocol.html), RSS and Atom feeds, and the
// <link> elements of pages that name feeds, next pages and translations.
//
// Unattended programs write these files, and anyone may send one. So the reader keeps
// to three rules:
//
//  1. Good entries survive bad neighbours. Namespaces, undeclared entities, unclosed tags,
//     wrong dates and files that end in the middle cost a Problem with its place, but no
//     readable entry. A URL that may have been cut short is dropped: half a URL is another
//     URL.
//  2. A file may list only its own host. Other pages are dropped unless their site's
//     robots.txt announced the file (cross-submission); see reach.go.
//  3. Everything is bounded: size, decompressed size, entries, nesting, the length of a
//     token, the problems kept. This package fetches nothing.
package sitemap
