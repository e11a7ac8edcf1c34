package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// ErrAddress says that a listen address is malformed.
var ErrAddress = errors.New("want HOST:PORT, such as 127.0.0.1:7070")

// ErrExposed says that other machines can reach a listen address, and that the options
// which allow this are missing.
var ErrExposed = errors.New("other machines could reach this address")

// Listen listens on an address, host:port. An address other than loopback needs both
// remote and credentials. Listen resolves a host name first, then checks and listens on
// the resulting address, not on the name.
func Listen(ctx context.Context, address string, remote bool, c *Credentials) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w: %w", address, ErrAddress, err)
	}
	if _, err := net.DefaultResolver.LookupPort(ctx, "tcp", port); err != nil {
		return nil, fmt.Errorf("listen on %q: %w: %w", address, ErrAddress, err)
	}
	loopback := false
	if host != "" { // an empty host means all addresses
		if host, loopback, err = resolve(ctx, host); err != nil {
			return nil, fmt.Errorf("listen on %q: %w", address, err)
		}
	}
	switch {
	case loopback:
	case !remote:
		return nil, fmt.Errorf("listen on %q: %w: to allow it, use --allow-remote together with --user and --password-file, or --token-file", address, ErrExposed)
	case c == nil:
		return nil, fmt.Errorf("listen on %q: %w: use --user and --password-file, or --token-file", address, ErrExposed)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, err)
	}
	return l, nil
}

// resolve returns an address of a host, preferably IPv4, and reports whether all of its
// addresses are loopback.
func resolve(ctx context.Context, host string) (address string, loopback bool, err error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), a.Unmap().IsLoopback(), nil
	}
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", false, err
	}
	if len(list) == 0 {
		return "", false, fmt.Errorf("%s has no address", host)
	}
	loopback = true
	best := list[0]
	for _, a := range list {
		loopback = loopback && a.Unmap().IsLoopback()
		if a.Unmap().Is4() && !best.Unmap().Is4() {
			best = a
		}
	}
	return best.Unmap().String(), loopback, nil
}
