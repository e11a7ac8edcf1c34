package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"
)

// Credentials are what a request must present: a user name and password, or a token.
// Only their digests are kept.
type Credentials struct {
	user, secret [sha256.Size]byte
	token        bool
}

// The minimum lengths of secrets, in characters. Only the limit on concurrent requests slows
// down an attacker who guesses.
const (
	minPassword = 8
	minToken    = 16
)

// Password returns credentials for HTTP Basic (RFC 7617), for one user.
func Password(user, password string) (*Credentials, error) {
	switch {
	case user == "" || strings.Contains(user, ":"):
		return nil, errors.New("the user name must not be empty or contain a colon")
	case utf8.RuneCountInString(password) < minPassword:
		return nil, fmt.Errorf("the password must have at least %d characters", minPassword)
	}
	return &Credentials{user: sha256.Sum256([]byte(user)), secret: sha256.Sum256([]byte(password))}, nil
}

// Token returns credentials for HTTP Bearer (RFC 6750). In a browser, the token is the
// password of any user.
func Token(token string) (*Credentials, error) {
	if utf8.RuneCountInString(token) < minToken {
		return nil, fmt.Errorf("the token must have at least %d characters", minToken)
	}
	return &Credentials{secret: sha256.Sum256([]byte(token)), token: true}, nil
}

// ReadSecret returns the first line of a file. Secrets come from files because other
// users can see a command line.
func ReadSecret(name string) (string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

// admit reports whether a request presents the credentials. It always compares both
// digests, in constant time, so its duration reveals neither the length of the secret
// nor which part was wrong.
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
