package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// Credentials are what a request has to bring: a user's name and password, or a
// token. Only digests are kept.
type Credentials struct {
	user, secret [sha256.Size]byte
	token        bool
}

// The least lengths of secrets, in bytes. Nothing slows down who guesses, but that
// few requests run at a time.
const (
	MinPassword = 8
	MinToken    = 16
)

// Password makes the credentials of one user, for HTTP Basic (RFC 7617).
func Password(user, password string) (*Credentials, error) {
	switch {
	case user == "" || strings.Contains(user, ":"):
		return nil, errors.New("a user's name is not empty and has no colon")
	case len(password) < MinPassword:
		return nil, fmt.Errorf("a password has at least %d characters", MinPassword)
	}
	return &Credentials{user: sha256.Sum256([]byte(user)), secret: sha256.Sum256([]byte(password))}, nil
}

// Token makes credentials of a token, for HTTP Bearer (RFC 6750). A browser gives it
// as the password of any user.
func Token(token string) (*Credentials, error) {
	if len(token) < MinToken {
		return nil, fmt.Errorf("a token has at least %d characters", MinToken)
	}
	return &Credentials{secret: sha256.Sum256([]byte(token)), token: true}, nil
}

// ReadSecret is the first line of a file: a password or token should not stand on a
// command line, where other users see it.
func ReadSecret(name string) (string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

// admit reports whether a request brings the credentials. It compares digests in
// constant time, and always both: how long it takes tells neither how long a secret
// is nor which part was wrong.
func (c *Credentials) admit(r *http.Request) bool {
	user, secret, basic := r.BasicAuth()
	if !basic && c.token {
		if scheme, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
			secret = strings.TrimSpace(rest)
		}
	}
	u, s := sha256.Sum256([]byte(user)), sha256.Sum256([]byte(secret))
	sameUser := subtle.ConstantTimeCompare(u[:], c.user[:])
	if c.token {
		sameUser = 1
	}
	return sameUser&subtle.ConstantTimeCompare(s[:], c.secret[:]) == 1
}
