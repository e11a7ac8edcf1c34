// Package robots reads robots.txt files and applies them as RFC 9309 (the Robots
// Exclusion Protocol) says. It does no input or output and keeps no state: the crawler
// fetches, and this package says what the answer means.
//
// Parse turns a file into a File, File.Group selects what concerns one crawler, and
// Group.Allowed decides on one URL and names the rule and its line. A Group is compiled
// once and is safe for concurrent use.
//
// Decide turns one fetch of a robots.txt (with any status, or none) and the earlier
// policy into a new Policy: obey these rules, allow all, disallow all, or follow this
// redirect; until when, and why in words.
//
// # Where the RFC leaves a choice
//
// Misspelt and incomplete lines. Section 2.2.4 lets crawlers accept common
// misspellings. Parse accepts the frequent ones (recordNames) and a missing colon, because
// the intention of "Disalow: /" is plain.
//
// User agents. A user-agent value counts up to the first character that is not a
// letter, digit, hyphen or underscore, so that "FooBot/1.2" and "FooBot, BarBot"
// concern FooBot. Digits are not in the RFC's product tokens, but they are in the names
// of many crawlers: "MJ12bot" does not concern a crawler called MJ.
//
// Percent-encoding. Section 2.2.2 wants reserved characters encoded before the
// comparison, except those that delimit, and does not list those. See canonical for the
// classes used here.
//
// Encodings. Files are UTF-8; a byte order mark is skipped, even an incomplete one. A
// file that begins with the UTF-16 mark is decoded as UTF-16.
//
// Options turns on behaviour of other crawlers that contradicts the RFC. It is off by
// default; the two conformance suites need it for the cases that their tests list.
package robots
