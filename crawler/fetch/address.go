package fetch

import (
	"fmt"
	"net/netip"
	"strings"
)

// special is a block of addresses that must not be contacted, from the IANA
// special-purpose address registries (RFC 6890) and the multicast registries.
type special struct {
	prefix netip.Prefix
	name   string
}

var specialIPv4 = []special{
	block("0.0.0.0/8", "this network, RFC 791"),
	block("10.0.0.0/8", "private-use, RFC 1918"),
	block("100.64.0.0/10", "carrier-grade NAT, RFC 6598"),
	block("127.0.0.0/8", "loopback, RFC 1122"),
	block("169.254.0.0/16", "link-local, RFC 3927"),
	block("172.16.0.0/12", "private-use, RFC 1918"),
	block("192.0.0.0/24", "protocol assignments, RFC 6890"),
	block("192.0.2.0/24", "documentation, RFC 5737"),
	block("192.88.99.0/24", "6to4 relay, RFC 7526"),
	block("192.168.0.0/16", "private-use, RFC 1918"),
	block("198.18.0.0/15", "benchmarking, RFC 2544"),
	block("198.51.100.0/24", "documentation, RFC 5737"),
	block("203.0.113.0/24", "documentation, RFC 5737"),
	block("224.0.0.0/4", "multicast, RFC 5771"),
	block("240.0.0.0/4", "reserved or broadcast, RFC 1112"),
}

// specialIPv6 lists the blocks whose name helps the user. After them, every address
// that is not global unicast is refused.
var specialIPv6 = []special{
	block("::/128", "unspecified, RFC 4291"),
	block("::1/128", "loopback, RFC 4291"),
	block("64:ff9b:1::/48", "local-use NAT64, RFC 8215"),
	block("100::/64", "discard-only, RFC 6666"),
	block("2001::/23", "protocol assignments, Teredo among them, RFC 2928"),
	block("2001:db8::/32", "documentation, RFC 3849"),
	block("3fff::/20", "documentation, RFC 9637"),
	block("fc00::/7", "unique-local, RFC 4193"),
	block("fe80::/10", "link-local, RFC 4291"),
	block("fec0::/10", "site-local, RFC 3879"),
	block("ff00::/8", "multicast, RFC 4291"),
}

// embedding is a block whose addresses contain an IPv4 address, to which routers or
// translators forward.
type embedding struct {
	special
	at int // the first of its four bytes
}

var embeddings = []embedding{
	{block("64:ff9b::/96", "NAT64, RFC 6052"), 12},
	{block("2002::/16", "6to4, RFC 3056"), 2},
}

var globalUnicast = block("2000::/3", "global unicast, RFC 4291")

func block(prefix, name string) special { return special{netip.MustParsePrefix(prefix), name} }

// RefuseAddress says why a crawler must not contact an address, "" if it may. Only
// addresses that are public on the Internet are allowed. An IPv4 address inside an IPv6
// one (mapped, NAT64, 6to4) counts as itself.
func RefuseAddress(addr netip.Addr) string {
	switch {
	case !addr.IsValid():
		return "no address"
	case addr.Zone() != "":
		return fmt.Sprintf("%s has a zone, RFC 4007", addr)
	case addr.Is4In6():
		return within(addr, "IPv4-mapped, RFC 4291", addr.Unmap())
	case addr.Is4():
		return refuseFrom(specialIPv4, addr)
	}
	for _, e := range embeddings {
		if e.prefix.Contains(addr) {
			b := addr.As16()
			inner, _ := netip.AddrFromSlice(b[e.at : e.at+4])
			return within(addr, e.name, inner)
		}
	}
	if reason := refuseFrom(specialIPv6, addr); reason != "" {
		return reason
	}
	if !globalUnicast.prefix.Contains(addr) {
		return fmt.Sprintf("%s is not %s", addr, globalUnicast.name)
	}
	return ""
}

func refuseFrom(blocks []special, addr netip.Addr) string {
	for _, s := range blocks {
		if s.prefix.Contains(addr) {
			return fmt.Sprintf("%s is %s", addr, s.name)
		}
	}
	return ""
}

func within(outer netip.Addr, form string, inner netip.Addr) string {
	if reason := RefuseAddress(inner); reason != "" {
		return fmt.Sprintf("%s (%s): %s", outer, form, reason)
	}
	return ""
}

// refuseHost is RefuseAddress for what a URL shows before anything is resolved: an
// address as host, or a name that is this machine by definition (RFC 6761 section 6.3).
func refuseHost(host string) string {
	if addr, ok := literal(host); ok {
		return RefuseAddress(addr)
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return host + " is this machine, RFC 6761"
	}
	return ""
}

// literal parses a host that is written as an address, with or without brackets.
func literal(host string) (netip.Addr, bool) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}
