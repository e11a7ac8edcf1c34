// Package unanswered explains in plain words why a gRPC call to another process failed, and
// what to do about it.
package unanswered

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// causes maps what the libraries below gRPC say to what people need to know. gRPC keeps only
// the texts of their errors. The first sign that is found counts.
var causes = []struct{ sign, plain string }{
	{"connection refused", "nothing listens there; start that process, or correct its address"},
	{"no such host", "no machine has this name; correct the address"},
	{"no route to host", "no network leads to that machine; correct the address or the network"},
	{"network is unreachable", "no network leads to that machine; correct the address or the network"},
	{"unknown authority", "tls.ca of this process does not hold the authority that signed its certificate; use the same authority for both"},
	{"has expired or is not yet valid", "its certificate is not valid now; renew it, or correct the clocks"},
	{"x509: ", "its certificate is not for this address; use a name that the certificate has, or make one for this address"},
	{"not look like a TLS handshake", "it does not use TLS, but this process does; give both the same settings tls"},
	{"remote error: tls: ", "it refuses the certificate of this process; set tls.cert and tls.key to a valid one that the authority in its tls.ca has signed"},
	{"use of closed network connection", noAnswer}, // this process has given up
	{"keepalive ping failed", noAnswer},
	{"server preface", "it uses TLS and this process does not, or it refuses the certificate of this process; compare the settings tls of both, and check the address"},
	{"broken pipe", closed},
	{"reset by peer", closed},
	{"i/o timeout", noAnswer},
}

const (
	noAnswer = "no answer; the process or its machine is stopped, overloaded or cut off, or the address is wrong"
	closed   = "it closed the connection; compare the settings tls of both, and check that it accepts the certificate of this process"
)

// Why explains an error of a call. Errors that are not gRPC's are returned as they are.
func Why(err error) string {
	st, ok := status.FromError(err)
	if !ok {
		return err.Error()
	}
	switch st.Code() {
	case codes.DeadlineExceeded:
		return noAnswer
	case codes.Unimplemented:
		return "another program, or another version of this one, answers there; check the address and the versions"
	}
	for _, c := range causes {
		if strings.Contains(st.Message(), c.sign) {
			return fmt.Sprintf("%s (%s)", c.plain, bare(st.Message()))
		}
	}
	return bare(st.Message())
}

// bare removes what gRPC wraps around the cause.
func bare(message string) string {
	if _, quoted, ok := strings.Cut(message, "desc = "); ok {
		if text, err := strconv.Unquote(quoted); err == nil {
			message = text
		}
	}
	for _, prefix := range []string{"transport: ", "Error while dialing: ", "authentication handshake failed: ", "error reading server preface: ", "tls: failed to verify certificate: "} {
		message = strings.TrimPrefix(message, prefix)
	}
	return message
}
