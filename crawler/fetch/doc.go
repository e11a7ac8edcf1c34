// Package fetch makes single HTTP exchanges for a crawler: one URL, one request, one
// result, whatever the server does.
//
// # Guarantees
//
//  1. One call of Fetch is one exchange. Fetch does not follow redirects: each hop is a
//     fetch of its own, with its own politeness, scope and address check, and the caller
//     makes it. If a kept connection turns out to be closed, the request fails and is not
//     sent again, because the server may have seen it. So Fetch does not reuse a connection
//     that the server has said it will close soon (Keep-Alive).
//  2. Everything is bounded: the time of each phase and of the whole, the rate below
//     which a body is abandoned, the size of the header, of the payload as sent and of
//     the decoded body, the memory of all large bodies together (see Budget), the idle
//     connections.
//  3. No connection is made to an address that is not public (see RefuseAddress), unless
//     Options.AllowPrivate is set. Names are resolved here, and the checked address is
//     the one that is dialled; the dialer's control hook checks the socket's address
//     again. A later change of the name does not affect a connection, and each new
//     connection is checked again, so rebinding a name to a private address gains
//     nothing.
//  4. It says who asks (User-Agent with a contact) and nothing else: no cookies, no
//     Referer, no credentials from URLs.
//  5. A Result holds what is needed to record the exchange: reading the recorded block
//     again gives the same status, header and body.
//
// # Proxies
//
// With Options.Proxy the proxy resolves names, so guarantee 3 holds only for what the
// URL shows: a host that is an address or a name under localhost. The proxy has to
// refuse the rest. The proxy's own address is the operator's choice and not checked.
package fetch
