package division

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/crawler/partition"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Group is the locality group of the division. A table that several processes share has
// it.
//
//	row                             column   holds
//	crawler, 0, token               state    a crawler (JSON)
//	fence, 0, partition             0 … 7    the token of the last holder
//	file, 0, partition, 0, URL      x        a sitemap or feed to read (package crawler)
//	host, 0, partition, 0, host     x        nothing: the host has something new in its queue
//	partition, 0, number            holder   the token of the crawler that holds it
//
// The rows of fences are in a range of their own, so that readers of the other rows need
// not pass them.
const Group = schema.GroupDivision

// fences is how many transactions under one partition need not conflict.
const fences = 8

const (
	crawlerPrefix   = "crawler\x00"
	fencePrefix     = "fence\x00"
	filePrefix      = "file\x00"
	hostPrefix      = "host\x00"
	partitionPrefix = "partition\x00"
)

var (
	stateColumn  = txn.Column{Group: Group, Name: "state"}
	holderColumn = txn.Column{Group: Group, Name: "holder"}
	message      = txn.Column{Group: Group, Name: "x"}
)

func crawlerRow(token string) string { return crawlerPrefix + token }

func partitionRow(p int) string { return fmt.Sprintf("%s%03d", partitionPrefix, p) }

func fenceRow(p int) string { return fmt.Sprintf("%s%03d", fencePrefix, p) }

func fenceColumn(i uint64) txn.Column {
	return txn.Column{Group: Group, Name: strconv.FormatUint(i%fences, 10)}
}

func hostRow(host string) string {
	return fmt.Sprintf("%s%03d\x00%s", hostPrefix, partition.Of(host), host)
}

func fileRow(host string, u page.URL) string {
	return fmt.Sprintf("%s%03d\x00%s", filePrefix, partition.Of(host), u)
}

// parseNumber reads the partition at the beginning of the rest of a row.
func parseNumber(rest string) (p int, more string, err error) {
	number, more, _ := strings.Cut(rest, "\x00")
	p, err = strconv.Atoi(number)
	if err != nil || p < 0 || p >= partition.Count {
		return 0, "", fmt.Errorf("division: partition %q: %w", number, store.ErrCorrupt)
	}
	return p, more, nil
}
