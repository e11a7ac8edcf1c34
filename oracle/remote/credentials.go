package remote

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Security is how processes of a deployment recognise each other. The same settings serve
// both ends of a connection.
type Security struct {
	// CertFile and KeyFile hold the certificate of this process and its key, in PEM.
	CertFile, KeyFile string
	// CAFile holds the certificates that sign those of the other processes. A server that
	// has one admits only clients with such a certificate.
	CAFile string
	// Token is a secret that all processes share. A server that has one admits only
	// clients that present it.
	Token string
}

// encrypted reports whether connections use TLS.
func (s Security) encrypted() bool { return s.CertFile != "" || s.CAFile != "" }

// Check refuses settings that would send a secret, or answer unknown clients, over a
// network.
func (s Security) Check(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		if e, ok := errors.AsType[*net.AddrError](err); ok {
			err = errors.New(e.Err) // without the address, which it names again
		}
		return fmt.Errorf("oracle: address %q: %w; want HOST:PORT", address, err)
	}
	if host == "localhost" || net.ParseIP(host).IsLoopback() {
		return nil
	}
	if !s.encrypted() {
		return fmt.Errorf("oracle: %s is not a loopback address: set tls.cert, tls.key and tls.ca, so that no other process can read or answer", address)
	}
	return nil
}

// ReadToken reads the shared secret from a file.
func ReadToken(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("oracle: read the token of the deployment (tls.token): %w", err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", fmt.Errorf("oracle: the token in %s (tls.token) is empty", path)
	}
	return token, nil
}

// ClientTLS returns the settings for connecting to another process of the deployment, or
// nil without TLS.
func (s Security) ClientTLS() (*tls.Config, error) { return s.config() }

func (s Security) config() (*tls.Config, error) {
	if !s.encrypted() {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	if (s.CertFile == "") != (s.KeyFile == "") {
		return nil, errors.New("oracle: tls.cert and tls.key belong together: set both")
	}
	if s.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("oracle: read the certificate and key of this process (tls.cert, tls.key): %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if s.CAFile != "" {
		pem, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("oracle: read the certificates of the deployment (tls.ca): %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("oracle: %s (tls.ca) holds no certificate in PEM", s.CAFile)
		}
		c.RootCAs, c.ClientCAs = pool, pool
	}
	return c, nil
}

// ServerOptions are the options of a gRPC server.
func (s Security) ServerOptions() ([]grpc.ServerOption, error) {
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	opts := []grpc.ServerOption{grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: silentFor / 2})}
	if c != nil {
		if len(c.Certificates) == 0 {
			return nil, errors.New("oracle: a server with tls.ca also needs tls.cert and tls.key")
		}
		if c.ClientCAs != nil {
			c.ClientAuth = tls.RequireAndVerifyClientCert
		}
		opts = append(opts, grpc.Creds(credentials.NewTLS(c)))
	}
	if s.Token != "" {
		opts = append(opts, grpc.UnaryInterceptor(s.admit), grpc.StreamInterceptor(s.admitStream))
	}
	return opts, nil
}

// admit lets requests through that bear the token.
func (s Security) admit(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := s.bearsToken(ctx); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// admitStream is admit for streams.
func (s Security) admitStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := s.bearsToken(stream.Context()); err != nil {
		return err
	}
	return handler(srv, stream)
}

// bearsToken refuses requests that do not bear the token. Comparing hashes takes the same
// time whatever differs, even if it is the length.
func (s Security) bearsToken(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	want := sha256.Sum256([]byte("Bearer " + s.Token))
	for _, v := range md.Get("authorization") {
		if got := sha256.Sum256([]byte(v)); subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return nil
		}
	}
	return status.Error(codes.Unauthenticated, "the request bears no valid token; give all processes the same setting tls.token")
}

// A connection that is silent for silentFor, although there are requests, is checked, and given up
// without an answer within pingWithin. silentFor is the least that gRPC allows. Without the check, a
// connection that loses what is sent would be used until the operating system gives it up, after 15
// minutes. Servers allow these checks: by default, gRPC takes four during one long request for an attack.
const (
	silentFor  = 10 * time.Second
	pingWithin = time.Second
)

// DialOptions are the options of a gRPC client.
func (s Security) DialOptions() ([]grpc.DialOption, error) {
	c, err := s.config()
	if err != nil {
		return nil, err
	}
	creds := insecure.NewCredentials()
	if c != nil {
		creds = credentials.NewTLS(c)
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: silentFor, Timeout: pingWithin}),
	}
	if s.Token != "" {
		opts = append(opts, grpc.WithPerRPCCredentials(bearer{s.Token, s.encrypted()}))
	}
	return opts, nil
}

// bearer presents the token with each request.
type bearer struct {
	token     string
	encrypted bool
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity allows plain connections to loopback addresses only: Check
// refuses others.
func (b bearer) RequireTransportSecurity() bool { return b.encrypted }
