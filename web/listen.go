package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// ErrAddress: what was given is no address to listen on.
var ErrAddress = errors.New("want HOST:PORT, such as 127.0.0.1:7070")

// ErrExposed: an address that others can reach, without what that needs.
var ErrExposed = errors.New("other machines could reach this address")

// Listen listens on an address, host:port. One that is not loopback needs remote to be
// set and credentials. A name is resolved first, and what it resolves to counts: the
// listener is on that address, not on the name.
func Listen(ctx context.Context, address string, remote bool, c *Credentials) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w: %w", address, ErrAddress, err)
	}
	if _, err := net.DefaultResolver.LookupPort(ctx, "tcp", port); err != nil {
		return nil, fmt.Errorf("listen on %q: %w: %w", address, ErrAddress, err)
	}
	loopback := false
	if host != "" { // an empty host is every address there is
		if host, loopback, err = resolve(ctx, host); err != nil {
			return nil, fmt.Errorf("listen on %q: %w", address, err)
		}
	}
	switch {
	case loopback:
	case !remote:
		return nil, fmt.Errorf("listen on %q: %w: say so with --allow-remote, and give --user and --password-file, or --token-file", address, ErrExposed)
	case c == nil:
		return nil, fmt.Errorf("listen on %q: %w: give --user and --password-file, or --token-file", address, ErrExposed)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, err)
	}
	return l, nil
}

// resolve gives the address of a host; of several a loopback one only if all are.
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
