// Package schema defines every row key, column and stored value of the application.
// The loader and the observers write them; verify, inspect and export read them. No
// other package builds a key itself.
//
// Most rows are of three kinds:
//
//	URL rows      page.URL.Key(): the reversed host comes first, so that the pages of a
//	              site are together
//	pair rows     target key, zero byte, source key: one row for each edge, so that a
//	              popular target is a range of rows and never one hot cell
//	cluster rows  the 32 bytes of the content key; in the group member, the order of
//	              preference and the URL follow
//
// docs/tables.md lists all rows and columns, and who writes and reads them.
package schema
