package web

import (
	"maps"
	"net/url"
	"strconv"
)

// pager holds the links through a list that is shown page by page.
type pager struct {
	Previous, Next string // links; "" at the ends
	Pages          []pageLink
	From, To       int // first and last entry shown, counted from 1
	Total          int
	Of             string // what the list holds
	Beyond         bool   // there are more entries than the pages show
}

// pageLink leads to a page of a list by its number. Current is the page that is shown.
type pageLink struct {
	Number  int
	Link    string
	Current bool
}

// nearPages is how many pages before and after the current one have links.
const nearPages = 3

// newPager makes links that set the parameter name to the number of a page, from 1.
func newPager(path string, params url.Values, name string, number, size, total int) pager {
	link := func(n int) string {
		q := maps.Clone(params)
		q.Del(name)
		if n > 1 {
			q.Set(name, strconv.Itoa(n))
		}
		return path + "?" + q.Encode()
	}
	p := pager{Total: total, From: min((number-1)*size+1, total), To: min(number*size, total)}
	last := (total + size - 1) / size
	if number > 1 {
		p.Previous = link(min(number-1, max(last, 1)))
	}
	if number*size < total {
		p.Next = link(number + 1)
	}
	for n := max(1, number-nearPages); n <= min(number+nearPages, last); n++ {
		p.Pages = append(p.Pages, pageLink{n, link(n), n == number})
	}
	return p
}
