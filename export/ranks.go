package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ranksHeader is the first line of Common Crawl's ranks files.
const ranksHeader = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n"

type ranks struct {
	out *bufio.Writer
	pos int
}

// NewRanks writes hosts as tab-separated values, in the layout of the host-level ranks
// files that Common Crawl publishes with its web graphs: place and value by harmonic
// centrality, place and value by rank, reversed host. It takes hosts in descending order
// of centrality.
func NewRanks(w io.Writer) (Sink[HostRank], error) {
	r := &ranks{out: bufio.NewWriterSize(w, buffered)}
	_, err := r.out.WriteString(ranksHeader)
	return r, err
}

func (r *ranks) Write(h *HostRank) error {
	r.pos++
	_, err := fmt.Fprintf(r.out, "%d\t%s\t%d\t%s\t%s\n", r.pos, number(h.Harmonic), h.Place, number(h.Rank), h.Host)
	return err
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (r *ranks) Close() error { return r.out.Flush() }

// ReverseHost returns a host in the form of ranks files: labels reversed, without a leading
// www. IP addresses stay unchanged.
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

// isAddress reports whether a host is an IP address. In normalised URLs, only addresses have
// a colon or a numeric last label (WHATWG URL, "ends in a number").
func isAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Contains(host, ":") || last != "" && strings.Trim(last, "0123456789") == ""
}
