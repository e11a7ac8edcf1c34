package index

// spellingSQL is a placeholder until spelling is written.
const spellingSQL = ``
