// Package trace tells the journey of one page: when it was fetched and loaded, each
// observer's run on it with its timestamps, what the run waited for and wrote, the
// attempts that did not commit, and when the page could be found.
//
// Three sources make the story, each with what the others lack:
//
//   - The store. Every record has the timestamps of the transaction that wrote it, so
//     records with one start timestamp are one transaction; acknowledgements name the
//     strong observers, columns the others. It survives everything, but holds what
//     committed only, and old versions only until garbage collection (journey.go).
//   - A Log: the last attempts of observers, in memory, with times to the microsecond,
//     and those that failed. It is bounded and lost with the process (log.go).
//   - A Clock: which timestamps were handed out when. Timestamps only count, so a
//     sample of both is put into a file ten times a second while there are new ones;
//     with it what is told from the store has times, too, and says how well they are
//     known (clock.go).
//
// Nothing here is needed for anything else: a Log that forgets and a Clock whose file
// is lost make stories shorter, never wrong.
package trace
