package config

import (
	"os"
	"slices"
	"strings"
)

// testVariables tell the tests of this project what to do (CONTRIBUTING.md). They share the
// prefix of the settings, and the program does not warn about them: tests run it with
// their own environment, and a developer may set one for a whole shell.
var testVariables = []string{
	"INDEXER_AXE", "INDEXER_BENCH_STORE", "INDEXER_BIGTABLE", "INDEXER_LONG", "INDEXER_OPENSEARCH_ZIP", "INDEXER_PICTURES", "INDEXER_POSTGRES_BIN", "INDEXER_REQUESTS",
	"INDEXER_SCREENSHOTS", "INDEXER_SEED", "INDEXER_SEEDS", "INDEXER_TEST_FAILPOINT", "INDEXER_TEST_PYTHON",
}

// UnknownVariables lists the variables of the environment that have the prefix of
// settings but are not settings, each with a suggestion. A mistyped name would otherwise
// leave a silent default. They are warnings, not errors, because other programs may use
// the prefix.
func UnknownVariables() (list []string) {
	names := make([]string, 0, len(settings))
	for _, key := range Keys() {
		names = append(names, envName(key))
	}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if value != "" && strings.HasPrefix(name, EnvPrefix+"_") && !slices.Contains(names, name) && !slices.Contains(testVariables, name) {
			list = append(list, "environment variable "+name+" is ignored: there is no such setting"+meant(name, names))
		}
	}
	slices.Sort(list)
	return list
}

// meant returns "; did you mean …?" if one of the names is similar.
func meant(word string, names []string) string {
	last := strings.TrimPrefix(word, EnvPrefix+"_")
	if last == "" {
		return "" // every name is as similar
	}
	best := ""
	i := slices.IndexFunc(names, func(n string) bool { // the section is missing
		return strings.HasSuffix(n, "."+last) || strings.HasSuffix(n, "_"+last)
	})
	if i >= 0 {
		best = names[i]
	} else {
		best = Nearest(word, names)
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// Nearest returns the name that a misspelt word most likely means, or "" if none is
// similar.
func Nearest(word string, names []string) string {
	own := strings.TrimPrefix(word[strings.LastIndexByte(word, '.')+1:], EnvPrefix+"_") // what all names share is not a similarity
	best, least := "", len(own)/3+2
	for _, n := range names {
		if d := distance(word, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace, or swap with their neighbour
// (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
