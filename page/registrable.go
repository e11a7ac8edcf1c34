package page

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// RegistrableDomain returns the registrable domain of a host: its public suffix and one label
// more (https://publicsuffix.org). It returns an address, with or without brackets, and a name
// outside every registrable domain, as it is.
func RegistrableDomain(host string) string {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return host
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}
