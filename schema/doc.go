// Package schema is every row key, column and stored value of the application in
// one place. Loader and observers write them, verify, inspect and export read
// them; none of them spells a key itself.
//
// Rows are of three kinds:
//
//	URL rows      page.URL.Key(): reversed host first, so that a site lies together
//	pair rows     target key, zero byte, source key: one row for each edge, so that a
//	              popular target is a range of rows and never one hot cell
//	cluster rows  the 32 bytes of the content key; in the group member followed by the
//	              order of preference and the URL
//
// docs/tables.md draws them all with who writes and who reads.
package schema
