// Package partition divides hosts among crawlers by consistent hashing.
//
// Each host belongs to one of Count partitions. Rendezvous hashing assigns each partition
// to one of the live crawlers: the one whose hash with the partition is the greatest. When
// a crawler joins, it takes about equally many partitions from each of the others; when one
// leaves, its partitions go to all the others. No other partition moves.
//
// Hosts are hashed by registrable domain, not by name. The hosts of one domain share a
// request limit and often an address, so one crawler has to see them together; and because
// of that limit, two crawlers would not be faster than one.
//
// Rejected: hashing hosts directly to crawlers, without partitions. What a crawler owns
// would then be an unbounded list of hosts, which a fixed number of fences cannot guard.
package partition

import (
	"net"
	"net/url"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/page"
)

// Count is the number of partitions. It is part of the format of the rows that package
// division keeps: crawlers that count differently would ask the same hosts.
const Count = 256

// Of returns the partition of a host: scheme, name and port, as crawler.HostOf writes it.
func Of(host string) int {
	return int(xxhash.Sum64String(page.RegistrableDomain(nameOf(host))) % Count)
}

// nameOf returns the name in a host's key.
func nameOf(host string) string {
	u, err := url.Parse(host)
	if err != nil {
		return host
	}
	if name, _, err := net.SplitHostPort(u.Host); err == nil {
		return name
	}
	return u.Hostname()
}

// Owner returns which of the crawlers a partition belongs to, "" if there are none. The
// order of the crawlers does not matter.
func Owner(crawlers []string, p int) (owner string) {
	var most uint64
	for _, c := range crawlers {
		d := xxhash.New()
		_, _ = d.Write([]byte{byte(p >> 8), byte(p)}) // never fails
		_, _ = d.WriteString(c)
		if sum := mix(d.Sum64()); owner == "" || sum > most || sum == most && c < owner {
			owner, most = c, sum
		}
	}
	return owner
}

// mix is the finalizer of MurmurHash3. xxhash of two names that differ in one digit is
// good enough for a table, but their order over many partitions should be independent.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
