package profile

import (
	"cmp"
	"slices"
	"strings"
)

// Rule says which part of a program a function belongs to.
type Rule struct {
	Part string
	// Functions are beginnings of names, as the runtime prints them:
	// "example.org/module/package.(*Type).Method".
	Functions []string
	// Anywhere makes a function decide at any depth of a stack, such as that of a
	// compaction, which calls other parts. These rules are tried first, in their order.
	// The other rules decide by the innermost function that any of them names: a
	// compression belongs to compression, whatever its caller.
	Anywhere bool
}

// Part is a part of a program with its share of what was measured.
type Part struct {
	Name  string  `json:"name"`
	Value int64   `json:"value"`
	Share float64 `json:"share"` // of all parts
}

// other is the part of stacks that no rule decides about.
const other = "other"

// Parts sums up one value of the samples by part, the largest first.
func Parts(samples []Sample, value int, rules []Rule) []Part {
	return sumUp(samples, value, func(stack []string) string { return partOf(stack, rules) })
}

func sumUp(samples []Sample, value int, nameOf func(stack []string) string) []Part {
	sums := map[string]int64{}
	all := int64(0)
	for _, s := range samples {
		if value < len(s.Values) && s.Values[value] != 0 {
			sums[nameOf(s.Stack)] += s.Values[value]
			all += s.Values[value]
		}
	}
	list := make([]Part, 0, len(sums))
	for name, v := range sums {
		list = append(list, Part{name, v, float64(v) / float64(all)})
	}
	slices.SortFunc(list, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name)) })
	return list
}

// partOf finds the part that a stack belongs to.
func partOf(stack []string, rules []Rule) string {
	for _, r := range rules {
		if r.Anywhere && slices.ContainsFunc(stack, r.matches) {
			return r.Part
		}
	}
	for _, function := range stack {
		for _, r := range rules {
			if !r.Anywhere && r.matches(function) {
				return r.Part
			}
		}
	}
	return other
}

func (r *Rule) matches(function string) bool {
	return slices.ContainsFunc(r.Functions, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

// Stages sums up one value of the samples by the outermost function of a stack that
// begins with one of the prefixes. Methods count as their type, and closures as the
// function that they are in.
func Stages(samples []Sample, value int, prefixes []string) []Part {
	return sumUp(samples, value, func(stack []string) string {
		for _, function := range slices.Backward(stack) {
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(function, p) }) {
				return shortName(function)
			}
		}
		return other
	})
}

// shortName is the package and the type, or the function, of a name such as
// "example.org/module/package.(*Type).Method.func1".
func shortName(function string) string {
	function = function[strings.LastIndexByte(function, '/')+1:]
	pkg, name, _ := strings.Cut(function, ".")
	name, _, _ = strings.Cut(name, ".")
	return pkg + "." + strings.Trim(name, "(*)")
}
