package query

import "strings"

// British and American English spell some words differently. A search also looks for the other
// spelling of a word, as it does for the long form of an abbreviation: both are the same word, so
// neither is better.

// spellings has words in both spellings, a pair per line.
const spellings = `
analyse analyze
behaviour behavior
catalogue catalog
centre center
colour color
customise customize
defence defense
dialogue dialog
favourite favorite
fibre fiber
flavour flavor
grey gray
initialise initialize
labour labor
licence license
neighbour neighbor
normalise normalize
optimise optimize
organise organize
recognise recognize
serialise serialize
summarise summarize
synchronise synchronize
theatre theater
visualise visualize
`

// otherSpelling has, for each word and its plural, the other spelling.
var otherSpelling = readSpellings(spellings)

func readSpellings(text string) map[string]string {
	table := make(map[string]string)
	for line := range strings.Lines(text) {
		british, american, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			continue
		}
		for _, ending := range [...]string{"", "s"} {
			table[british+ending], table[american+ending] = american+ending, british+ending
		}
	}
	return table
}
