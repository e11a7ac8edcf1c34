package bigtable

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// location is what a URL names.
type location struct {
	project, instance, prefix string
	profile                   string // of the application; "" for the instance's default
	emulator                  string // its host and port; "" for the real service
}

const (
	scheme       = "bigtable"
	notifySuffix = "-notify"

	profileParam  = "app_profile"
	emulatorParam = "emulator"
)

// tableName matches names of tables of Bigtable that leave room for notifySuffix in 50 bytes.
var tableName = regexp.MustCompile(`^[_a-zA-Z0-9][-_.a-zA-Z0-9]{0,42}$`)

// parse takes a URL apart: bigtable://PROJECT/INSTANCE/PREFIX, optionally with
// ?app_profile=NAME or ?emulator=HOST:PORT.
func parse(setting string) (location, error) {
	const form = "write bigtable://PROJECT/INSTANCE/PREFIX"
	wrong := func(format string, args ...any) (location, error) {
		return location{}, fmt.Errorf("store %s: %s; %s", setting, fmt.Sprintf(format, args...), form)
	}
	// Not url.Parse: a project may be DOMAIN:NAME, which is not a host and port.
	rest, ok := strings.CutPrefix(setting, scheme+"://")
	if !ok {
		return wrong("this is no URL of Bigtable")
	}
	path, query, _ := strings.Cut(rest, "?")
	parts := strings.Split(path, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return wrong("a project, an instance and a prefix are needed")
	}
	l := location{project: parts[0], instance: parts[1], prefix: parts[2]}
	if !tableName.MatchString(l.prefix) {
		return wrong("the prefix %q begins the names of tables: at most 43 letters, digits, and _ - . after the first", l.prefix)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return wrong("%v", err)
	}
	for name, v := range values {
		known := map[string]*string{profileParam: &l.profile, emulatorParam: &l.emulator}[name]
		if known == nil || len(v) != 1 || v[0] == "" {
			return wrong("the parameter %q is not understood; there are %s and %s, each with one value", name, profileParam, emulatorParam)
		}
		*known = v[0]
	}
	return l, nil
}
