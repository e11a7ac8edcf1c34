// Package seeds reads the URLs that a crawl starts from.
//
// A seeds file is text, in UTF-8 or, with a byte order mark, UTF-16:
//
//	# one URL a line; blank lines and comments are skipped
//	https://example.com/
//	https://example.com/docs/#intro   # a comment after white space; #intro is none
//	example.org                       # a bare host: https first, then http
//	example.org/path
//	bücher.example
//	192.0.2.7:8080
//	[2001:db8::1]
//
// People write these files, so an invalid line is reported with its number, what is
// wrong with it and, if possible, what to write instead; the other lines still count.
// The parser never guesses silently: it rejects a line rather than read it as a URL
// that its author may not have meant.
package seeds
