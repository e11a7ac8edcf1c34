package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ranksHeader is the head of Common Crawl's ranks files, as far as there is something
// to put under it. Theirs begin with two columns of harmonic centrality, which is not
// known here; readers that go by names find the others.
const ranksHeader = "#pr_pos\t#pr_val\t#host_rev\n"

type ranks struct {
	out *bufio.Writer
	pos int
}

// NewRanks writes hosts as a table with tabs, in the layout of the host-level ranks
// files that Common Crawl publishes with its web graphs: place, value, host reversed.
// It takes the hosts with the greatest rank first.
func NewRanks(w io.Writer) (Sink[HostRank], error) {
	r := &ranks{out: bufio.NewWriterSize(w, buffered)}
	_, err := r.out.WriteString(ranksHeader)
	return r, err
}

func (r *ranks) Write(h *HostRank) error {
	r.pos++
	_, err := fmt.Fprintf(r.out, "%d\t%s\t%s\n", r.pos, strconv.FormatFloat(h.Rank, 'g', -1, 64), h.Host)
	return err
}

func (r *ranks) Close() error { return r.out.Flush() }

// ReverseHost is a host as ranks files have it: labels reversed, without a leading
// www. An address stays as it is.
func ReverseHost(host string) string {
	if isAddress(host) {
		return host
	}
	if bare := strings.TrimPrefix(host, "www."); strings.Contains(bare, ".") {
		host = bare
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

// isAddress: of all hosts of normalised URLs only addresses have a colon, or end in a
// label that is a number (WHATWG URL, "ends in a number").
func isAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Contains(host, ":") || last != "" && strings.Trim(last, "0123456789") == ""
}
