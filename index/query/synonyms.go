package query

import (
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
)

// People type "delete account", and the page is called "Removing an account". So a word of a query
// also matches its synonyms in the title of a page, in its headings and in the anchors that lead to
// it. In texts, only the word itself matches: nearly every long text has one of several synonyms.
//
// The table has words that sites of every kind use for each other. It leaves out words that often mean
// something else ("order", "run", "book"), and terms that the manuals of programs distinguish, such as
// "list" and "array", or "method" and "function". A synonym of several words matches where they follow
// each other. It is never the first of its group.

// synonyms has words that sites use for each other, a group per line.
const synonyms = `
remove delete erase
remove uninstall
remove drop
create make
create new add
add insert append
change modify edit alter
change customize
update upgrade
upgrade migrate
merge join combine concatenate
split divide separate
install setup
configure setup
configure settings preferences
option setting preference
tutorial introduction "getting started" "quick start" "first steps" primer
tutorial guide howto
introduction overview
guide handbook manual
error exception failure
error problem issue trouble
problem trouble troubleshooting
picture image photo
buy purchase
phone telephone
price cost fee
hours times
job career vacancy employment
shipping delivery
refund return
register registration signup "sign up"
login logon signin "log in" "sign in"
login authentication
cancel unsubscribe
show display
find search locate
start launch begin
stop quit exit
stop terminate kill
quick fast
speed performance
slow performance
fix repair
solve fix
convert transform
copy duplicate clone
move relocate
save store
save export
reload load
download get
check verify validate
size dimension
big large
small little
film movie
vacation holiday
kid child
doctor physician
car automobile vehicle
toilet restroom lavatory
admission entry
garbage trash waste rubbish refuse recycling
apartment flat
rent hire lease
bike bicycle cycling
train railway
disabled accessibility wheelchair
event activity
folder directory
shortcut hotkey keybinding
administrator admin
changelog changes "release notes" "what s new"
faq questions
example sample
plugin extension addon "add on"
debug troubleshoot
difference compare comparison
limit maximum
requirement prerequisite
compatible support
permission access privilege
permission right
empty blank
schedule periodic cron
notification alert
private confidential
`

// synonymsOf has, by the stem of each word, its synonyms.
var synonymsOf = readSynonyms(synonyms)

var english = analysis.StemmerFor("en")

func readSynonyms(text string) map[string][]string {
	table := make(map[string][]string)
	for line := range strings.Lines(text) {
		group := quotedFields(line)
		for _, word := range group {
			if strings.Contains(word, " ") {
				continue
			}
			stem := english.Stem(word)
			for _, other := range group {
				if other != word && !slices.Contains(table[stem], other) {
					table[stem] = append(table[stem], other)
				}
			}
		}
	}
	return table
}

// quotedFields returns the fields of a line: words, and texts between quotes.
func quotedFields(line string) (list []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// inOtherWords returns the synonyms of words, in the form of [Term.Sequences].
func inOtherWords(words []string, inUse []*analysis.Stemmer) (list [][]string) {
	if len(words) != 1 || english == nil {
		return nil
	}
	for _, other := range synonymsOf[english.Stem(words[0])] {
		fields := strings.Fields(other)
		list = withForms(list, fields, slices.Repeat([]bool{true}, len(fields)), inUse)
	}
	return list
}

// Otherwise returns the expression of documents that lack a word of the query and have all of
// them in their titles and anchors, some in other words. It returns nil if there are no other
// words.
func (q *Query) Otherwise() *Expr {
	named := q.named((*Term).otherwise)
	if named == nil || named.String() == q.Named().String() {
		return nil
	}
	return &Expr{Op: OpNot, Kids: []*Expr{named, q.Expr(AllWords)}}
}

// InOtherWords returns the expression of documents that have each word of the query, or another
// word for it, anywhere.
func (q *Query) InOtherWords() *Expr { return q.all((*Term).otherwise) }

// otherwise returns the expression of documents that have the term or other words for it.
func (t *Term) otherwise() *Expr {
	if len(t.Otherwise) == 0 {
		return t.Expr()
	}
	wide := *t
	wide.Full = slices.Concat(t.Full, t.Otherwise)
	return wide.Expr()
}
