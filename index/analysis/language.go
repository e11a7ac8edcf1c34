package analysis

import "strings"

// Stop words are indexed, and count in phrases. They are left out of queries that have
// other words, because they match nearly every document. English stop words are always
// recognised, those of another language only if the query names it by lang:, because one
// language's stop word is another's noun.
var stopWords = map[string]map[string]bool{
	"en": WordSet("a an and are as at be but by for from had has have he her his how i if in into is it its me my no not of on or our she so such that the their them then there these they this to was we were what when where which who why will with you your do does did can could should would between vs versus"),
	"de": WordSet("aber als am an auch auf aus bei bin bis das dass dem den der des die du ein eine einem einen einer eines er es fur hat ich ihr im in ist ja kann man mit nach nicht noch nur oder sich sie sind so uber um und von vor war was wie wir wird zu zum zur"),
	"fr": WordSet("a au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur lui mais ne nous on ou par pas pour qu que qui sa se ses son sont sur tu un une vous y d l s c j n m t"),
	"es": WordSet("a al como con de del el ella en entre era es esta este la las le lo los mas me mi muy no nos o para pero por que se sin sobre su sus te un una y ya"),
	"it": WordSet("a ai al alla anche che chi ci con da dal dei del della di e ed gli ha i il in io la le lo ma mi ne nel nella non o per piu se si sono su tra un una"),
	"pt": WordSet("a ao aos as com como da das de do dos e ela ele em entre era essa este foi mais mas na nas nao no nos o os ou para pela pelo por que se sem seu sua um uma"),
	"nl": WordSet("aan als bij dat de den der deze die dit een en er het hij ik in is je met naar niet of om ook op te tot uit van voor was wat we wordt ze zij zijn zo"),
	"ru": WordSet("а без бы был в во вот вы где да для до его ее если есть же за и из или им их к как ко когда кто ли мы на не него нее нет но ну о об он она они от по при с со так там то только ты у уже что чтобы это я"),
}

// WordSet returns the set of the words of a text that white space separates.
func WordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// IsStopWord reports whether a folded word is a stop word of English or of a language.
func IsStopWord(folded, language string) bool {
	return stopWords["en"][folded] || stopWords[PrimaryLanguage(language)][folded]
}

// PrimaryLanguage returns the primary subtag of a BCP 47 tag, in lower case.
func PrimaryLanguage(language string) string {
	if i := strings.IndexAny(language, "-_"); i >= 0 {
		language = language[:i]
	}
	return strings.ToLower(language)
}

// LanguageOf returns the language to which most of the stop words among these folded words
// belong. If there are fewer than two, or no language has most, it returns usual. Single
// letters do not count.
func LanguageOf(words map[string]bool, usual string) string {
	best, most, second := usual, 0, 0
	usual = PrimaryLanguage(usual)
	for language, stops := range stopWords {
		n := 0
		for w := range words {
			if len(w) > 1 && stops[w] && !stopWords[usual][w] {
				n++
			}
		}
		switch {
		case n > most:
			best, most, second = language, n, most
		case n > second:
			second = n
		}
	}
	if most < 2 || most == second {
		return usual
	}
	return best
}
