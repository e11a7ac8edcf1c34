package query

import "strings"

// British and American English write some words in two ways. A word is also looked for in the other
// one, as if it were short for it: both are the same word, so neither is better.

// spellings are words in both ways, a pair on a line.
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

// otherSpelling is, by each word and its plural, the other way to write it.
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
