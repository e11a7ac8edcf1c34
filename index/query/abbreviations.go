package query

import (
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
)

// People type "config", "db" and "regex", and texts say "configuration", "database" and "regular
// expression". So a search also looks for the long form of a word that everybody shortens in the same way.
// The long form is only an alternative: a page that has the word as typed is as good as before. The table is
// short on purpose. An entry must have the same meaning in any manual. The table leaves out what is short for
// several things ("app", "sub", "res"), what is also a word or a name ("max", "temp", German "dir"), and what
// texts write as often as the long form ("info", "API", "HTTP").

// abbreviations are words and what they are short for.
var abbreviations = map[string][]string{
	"arg":      {"argument"},
	"args":     {"arguments"},
	"async":    {"asynchronous"},
	"attr":     {"attribute"},
	"attrs":    {"attributes"},
	"auth":     {"authentication", "authorization"},
	"cert":     {"certificate"},
	"certs":    {"certificates"},
	"char":     {"character"},
	"chars":    {"characters"},
	"cfg":      {"configuration"},
	"cli":      {"command line"},
	"cmd":      {"command"},
	"conf":     {"configuration"},
	"config":   {"configuration"},
	"configs":  {"configurations"},
	"db":       {"database"},
	"dbs":      {"databases"},
	"deps":     {"dependencies"},
	"dev":      {"development"},
	"dirs":     {"directories"},
	"doc":      {"documentation"},
	"docs":     {"documentation"},
	"env":      {"environment"},
	"func":     {"function"},
	"funcs":    {"functions"},
	"gui":      {"user interface"},
	"img":      {"image"},
	"impl":     {"implementation"},
	"int":      {"integer"},
	"js":       {"javascript"},
	"k8s":      {"kubernetes"},
	"lib":      {"library"},
	"libs":     {"libraries"},
	"msg":      {"message"},
	"num":      {"number"},
	"opts":     {"options"},
	"param":    {"parameter"},
	"params":   {"parameters"},
	"passwd":   {"password"},
	"perf":     {"performance"},
	"perms":    {"permissions"},
	"pkg":      {"package"},
	"pkgs":     {"packages"},
	"postgres": {"postgresql", "pgsql"},
	"prod":     {"production"},
	"ref":      {"reference"},
	"regex":    {"regular expression", "regexp"},
	"regexes":  {"regular expressions", "regexps"},
	"regexp":   {"regular expression", "regex"},
	"repo":     {"repository"},
	"repos":    {"repositories"},
	"spec":     {"specification"},
	"specs":    {"specifications"},
	"src":      {"source"},
	"ssl":      {"tls"},
	"stdlib":   {"standard library"},
	"str":      {"string"},
	"tls":      {"ssl"},
	"tmp":      {"temporary"},
	"ui":       {"user interface"},
	"util":     {"utility"},
	"utils":    {"utilities"},
	"vars":     {"variables"},
	"vm":       {"virtual machine"},
}

// inFull returns the long form of a word, and its other spelling, in the forms of
// [Term.Sequences].
func inFull(words []string, inUse []*analysis.Stemmer) (list [][]string) {
	if len(words) != 1 {
		return nil
	}
	all := abbreviations[words[0]]
	if other := otherSpelling[words[0]]; other != "" {
		all = append(slices.Clip(all), other)
	}
	for _, full := range all {
		fields := strings.Fields(full)
		list = withForms(list, fields, slices.Repeat([]bool{true}, len(fields)), inUse)
	}
	return list
}

// dropSaidInFull drops the long form of a word if the query has it as well: a query that
// compares "str" with "string" means two things.
func (q *Query) dropSaidInFull() {
	said := make(map[string]bool)
	for _, t := range q.Terms {
		for _, s := range t.Sequences {
			said[strings.Join(s, " ")] = true
		}
	}
	for _, t := range q.Terms {
		t.Full = slices.DeleteFunc(t.Full, func(s []string) bool { return said[strings.Join(s, " ")] })
		t.Otherwise = slices.DeleteFunc(t.Otherwise, func(s []string) bool { return said[strings.Join(s, " ")] })
	}
}
