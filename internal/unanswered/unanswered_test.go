package unanswered

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestWhy(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{errors.New("the table is away"), "the table is away"},
		{status.Error(codes.Internal, "the disk is full"), "the disk is full"},
		{status.Error(codes.DeadlineExceeded, "context deadline exceeded while waiting for connections to become ready"), noAnswer},
		{status.Error(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`),
			"nothing listens there; start that process, or correct its address (dial tcp 127.0.0.1:1: connect: connection refused)"},
		{status.Error(codes.Unavailable, `connection error: desc = "transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of \"x509: ECDSA verification failure\")"`),
			`tls.ca of this process does not hold the authority that signed its certificate; use the same authority for both (x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure"))`},
		{status.Error(codes.Unavailable, `connection error: desc = "error reading server preface: http2: frame too large"`),
			"it uses TLS and this process does not, or it refuses the certificate of this process; compare the settings tls of both, and check the address (http2: frame too large)"},
		{status.Error(codes.Unavailable, `connection error: desc = "error reading server preface: read tcp 127.0.0.1:2->127.0.0.1:1: use of closed network connection"`),
			noAnswer + " (read tcp 127.0.0.1:2->127.0.0.1:1: use of closed network connection)"},
	} {
		if got := Why(tc.err); got != tc.want {
			t.Errorf("%v:\ngot  %s\nwant %s", tc.err, got, tc.want)
		}
	}
}
