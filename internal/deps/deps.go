//go:build deps

// Package deps keeps the module requirements together while packages are being written.
package deps

import (
	_ "github.com/PuerkitoBio/goquery"
	_ "github.com/abadojack/whatlanggo"
	_ "github.com/andybalholm/brotli"
	_ "github.com/blevesearch/snowballstem"
	_ "github.com/blevesearch/snowballstem/english"
	_ "github.com/cespare/xxhash/v2"
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/dgraph-io/badger/v4"
	_ "github.com/klauspost/compress/gzip"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/nlnwa/whatwg-url/url"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/viper"
	_ "go.uber.org/goleak"
	_ "go.uber.org/zap"
	_ "golang.org/x/net/html"
	_ "golang.org/x/net/html/charset"
	_ "golang.org/x/net/publicsuffix"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "golang.org/x/text/unicode/norm"
	_ "modernc.org/sqlite"
)
