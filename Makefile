# What developers run. .ci/run is what a change must pass.
.PHONY: build test race long fuzz pictures bench lint release module

build:
	go build -o indexer .

test:
	go test ./...

# The race detector makes tests some ten times slower, so this is short mode.
race:
	go test -race -short ./...

# Everything that takes too long for every change: more random webs, whole corpora,
# millions of links.
long:
	INDEXER_LONG=1 go test -timeout 6h ./...

# Each fuzz target for a minute: make fuzz FUZZTIME=10m takes longer. A new input is
# minimised in ten runs at most: by default, go test spends most of the time on minimising.
FUZZTIME ?= 1m
fuzz:
	@go list ./... | while read -r pkg; do \
	  go test -list '^Fuzz' "$$pkg" | grep '^Fuzz' | while read -r target; do \
	    echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg" || exit 1; \
	  done || exit 1; \
	done

# The pictures in the README, from Chromium.
pictures:
	INDEXER_PICTURES=$(CURDIR)/docs/images go test -count=1 -run '^TestDocumentPicture$$' ./web ./web/live

bench:
	go run ./bench --help

lint:
	gofmt -l . | (! grep .)
	go vet ./...
	go tool staticcheck ./...
	go test ./internal/lint/

release:
	packaging/release

# Changes the module path in go.mod and in all Go files: make module TO=example.org/you/indexer
MODULE := $(shell go list -m)
module:
	@test -n "$(TO)" || { echo 'usage: make module TO=example.org/you/indexer'; exit 2; }
	go mod edit -module "$(TO)"
	sed -i 's#^\t$(MODULE)/#\t$(TO)/#' go.mod
	git grep -lz '"$(MODULE)[/"]' -- '*.go' | xargs -0 sed -i 's#"$(MODULE)\([/"]\)#"$(TO)\1#g'
	gofmt -w .
	go vet ./...
