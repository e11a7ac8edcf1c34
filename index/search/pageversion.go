package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
)

// pageVersion is the version that the address or the title of a page names.
type pageVersion struct {
	text     string   // as written, "" if there is none
	numbers  []string // 1.26.0 is 1, 26, 0
	unstable bool     // a pre-release, or the state of development
	current  bool     // the newest stable one, by name
	counted  bool     // numbers in segments of their own, such as a date
}

// versionNames are the names that sites give to versions, and whether they are stable.
var versionNames = map[string]bool{
	"latest": true, "stable": true, "current": true, "lts": true, "release": true,
	"dev": false, "devel": false, "develop": false, "development": false, "main": false, "master": false, "trunk": false, "head": false,
	"nightly": false, "snapshot": false, "unstable": false, "next": false, "edge": false, "canary": false, "preview": false,
}

// parseVersion reads 1.26, v2, 1.2-rc1, 3.0.x or the name of a version. A number alone is
// not a version.
func parseVersion(s string) (v pageVersion, ok bool) {
	if len(s) == 0 || len(s) > 24 {
		return v, false
	}
	lower := strings.ToLower(s)
	if stable, known := versionNames[lower]; known {
		return pageVersion{text: s, unstable: !stable, current: stable}, true
	}
	rest, marked := strings.CutPrefix(lower, "v")
	v.text = s
	for {
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if end == 0 {
			break
		}
		v.numbers = append(v.numbers, rest[:end])
		if rest = rest[end:]; len(rest) < 2 || rest[0] != '.' {
			break
		}
		rest = rest[1:]
	}
	if len(v.numbers) == 0 || len(v.numbers) == 1 && !marked {
		return pageVersion{}, false
	}
	if rest == "x" { // 3.0.x is a branch
		rest = ""
	}
	rest = strings.TrimLeft(rest, ".-_")
	for _, name := range [...]string{"rc", "beta", "alpha", "pre", "dev", "snapshot", "preview", "milestone", "m", "a", "b"} {
		if after, found := strings.CutPrefix(rest, name); found && (after == "" || isNumber(strings.TrimLeft(after, ".-_"))) {
			v.unstable, rest = true, ""
			break
		}
	}
	if rest != "" && rest != "final" && rest != "ga" && rest != "lts" {
		return pageVersion{}, false
	}
	return v, true
}

// take adds a version that was found. The first one counts, and a number after a number, as
// in /2024/05/31/, continues it.
func (v *pageVersion) take(o pageVersion) {
	switch {
	case v.text == "":
		*v = o
	case v.counted && o.counted:
		v.numbers = append(v.numbers, o.numbers...)
		v.text += "-" + o.text
	}
}

// newer compares versions: stable before unstable, then no version at all, which is how
// sites name the current one, then "latest", then by numbers. It returns a negative
// number if v is the version to show.
func (v *pageVersion) newer(o *pageVersion) int {
	return cmp.Or(compareBool(o.unstable, v.unstable), compareBool(v.text == "", o.text == ""), compareBool(v.current, o.current), compareNumbers(o.numbers, v.numbers))
}

// compareBool returns a negative number if only a is true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// beforeOne reports whether the first number of a version says that it is older than 1.0. That
// number is 0 or begins with 0: addresses also write 0.11.0 as 0110, which is older than 39,
// which means 3.9.
func beforeOne(first string) bool { return strings.HasPrefix(first, "0") }

func compareNumbers(a, b []string) int {
	if len(a) > 0 && len(b) > 0 && beforeOne(a[0]) != beforeOne(b[0]) {
		return compareBool(beforeOne(a[0]), beforeOne(b[0]))
	}
	for i := range min(len(a), len(b)) {
		x, y := strings.TrimLeft(a[i], "0"), strings.TrimLeft(b[i], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// askedVersions returns the versions that a query names.
func askedVersions(text string) (list []pageVersion) {
	for f := range strings.FieldsSeq(analysis.Truncate(text, 4096)) {
		_, value, _ := strings.Cut(f, ":")
		for _, word := range []string{f, value} {
			if v, ok := parseVersion(strings.Trim(word, `"()/,`)); ok {
				list = append(list, v)
			}
		}
	}
	return list
}

// answers says how well a page of version v answers a user who asks for another version: 2 for that
// version itself, which may have zeros after it (1.26.0), 1 for one of its releases, as 1.26.3 is one
// of 1.26, and 0 for others. Addresses also write 1.26 as 126.
func (v *pageVersion) answers(asked *pageVersion) int {
	switch {
	case len(asked.numbers) == 0 || len(v.numbers) == 0:
		if v.text != "" && strings.EqualFold(v.text, asked.text) {
			return 2
		}
		return 0
	case len(v.numbers) == 1 && len(asked.numbers) > 1:
		if digits := strings.Join(asked.numbers, ""); strings.TrimRight(v.numbers[0], "0") == strings.TrimRight(digits, "0") {
			return 2
		}
		return 0
	case len(v.numbers) < len(asked.numbers) || compareNumbers(v.numbers[:len(asked.numbers)], asked.numbers) != 0:
		return 0
	case !slices.ContainsFunc(v.numbers[len(asked.numbers):], func(n string) bool { return strings.Trim(n, "0") != "" }):
		return 2
	}
	return 1
}
