// Package web serves an index over HTTP: the search page, a page for each URL, stored
// copies, and a JSON API.
//
//	/                  search page and results; scripts only add keys and suggestions
//	/help              the query syntax
//	/doc?url=          everything known about a URL
//	/compare?url=      two versions of a page side by side (compare.go)
//	/view?url=         a stored copy in a frame, with its date
//	/copy?url=         the copy itself, isolated (copy.go)
//	/screenshot?url=   a stored screenshot or thumbnail (picture.go)
//	/icon?url=         the icon of a site (icons.go)
//	/api/…             the answers of the command line, as JSON (api.go)
//	/opensearch.xml    how browsers add this search engine (opensearch.go)
//	/embed.js          a search box for pages of other sites (embed.go)
//
// # Invariants of every answer
//
// Stored pages come from strangers, and so may requests.
//
//  1. Text from the web stays text: html/template escapes it, clean.go removes
//     characters that change the direction of writing, and links are made only from a
//     page.URL, which is http or https.
//  2. Only code that is part of the program runs. The content security policy allows
//     scripts and styles from this server only; no page has inline ones.
//  3. A stored page never gets the origin of this server. It is served in a sandbox of
//     its own, without scripts, forms or links, and loads nothing (copy.go).
//  4. No other site can read an answer through a visitor's browser: the server checks
//     the Host of each request (against DNS rebinding), nothing can be framed or read
//     across origins, and no request changes anything. The exception is a search from a
//     page of an origin that the operator has named (origins.go).
//  5. Beyond loopback, every request needs credentials (listen.go, auth.go).
//  6. Everything is bounded: the size of a request, its duration, the number of
//     concurrent requests, and how much of a page is shown. A handler that fails
//     answers 500 without details.
package web
