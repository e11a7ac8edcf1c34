package opensearch

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Address says where an index is.
type Address struct {
	base             string // of all requests: http://HOST:PORT
	name             string
	shards, replicas int
}

// prefix is how the URL of an index begins.
const prefix = "opensearch+"

// Is reports whether a setting names an index on an OpenSearch server.
func Is(setting string) bool { return strings.HasPrefix(setting, prefix) }

// nameForm accepts fewer names than the server does: a suffix must still fit.
var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,99}$`)

// ParseAddress reads opensearch+http://HOST:PORT/NAME or opensearch+https://HOST/NAME, with
// ?shards=N&replicas=N for an index that does not exist yet. Errors do not show the URL,
// which might hold a password although it must not.
func ParseAddress(setting string) (a Address, err error) {
	u, err := url.Parse(strings.TrimPrefix(setting, prefix))
	if err != nil || !Is(setting) || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return a, fmt.Errorf("want %shttp://HOST:PORT/NAME or %shttps://HOST/NAME", prefix, prefix)
	}
	if u.User != nil {
		return a, fmt.Errorf("the URL must not hold a user or a password: put them into the file that the setting opensearch.credentials names, or into %s and %s", UserVariable, PasswordVariable)
	}
	a = Address{base: u.Scheme + "://" + u.Host, name: strings.Trim(u.Path, "/"), shards: 1, replicas: 1}
	if !nameForm.MatchString(a.name) {
		return a, fmt.Errorf("the name of the index, after the host, can have only lower-case letters, digits and _ . -, and at most 100 of them")
	}
	for key, values := range u.Query() {
		n, err := strconv.Atoi(values[0])
		switch {
		case err == nil && key == "shards" && n >= 1 && n <= 1024:
			a.shards = n
		case err == nil && key == "replicas" && n >= 0 && n <= 10:
			a.replicas = n
		default:
			return a, fmt.Errorf("%s=%s is not allowed; want shards=1 to 1024 or replicas=0 to 10", key, values[0])
		}
	}
	return a, nil
}

// Beside returns the address of an index on the same server, whose name is the name of this
// index and a suffix.
func (a Address) Beside(suffix string) Address {
	a.name += "-" + suffix
	return a
}

// maybeTLS returns a part of a message. A server that expects TLS closes other connections
// without an answer.
func (a Address) maybeTLS() string {
	if strings.HasPrefix(a.base, "https:") {
		return ""
	}
	return ", that it does not expect TLS (opensearch+https)"
}

// String returns the URL, for messages.
func (a Address) String() string { return a.base + "/" + a.name }

// Credentials are a user and a password. Both are empty for a server that asks for none.
type Credentials struct{ User, Password string }

// The environment variables from which credentials are taken if no file is named.
const (
	UserVariable     = "OPENSEARCH_USERNAME"
	PasswordVariable = "OPENSEARCH_PASSWORD"
)

// ReadCredentials reads USER:PASSWORD from a file, or the environment if path is "".
func ReadCredentials(path string) (c Credentials, err error) {
	if path == "" {
		return Credentials{os.Getenv(UserVariable), os.Getenv(PasswordVariable)}, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("read the credentials for OpenSearch: %w", err)
	}
	user, password, found := strings.Cut(strings.TrimSpace(string(text)), ":")
	if !found || user == "" || strings.ContainsAny(password, "\r\n") {
		return c, fmt.Errorf("read the credentials for OpenSearch: %s: want one line USER:PASSWORD", path)
	}
	return Credentials{user, password}, nil
}
