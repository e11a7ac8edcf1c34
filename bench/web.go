package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/webgen"
)

const webHelp = `
Write WARC files of a generated web, for the other benchmarks to load: several hosts,
whose sizes follow a power law; pages of 18 KB on average, 30 links in the median one,
most of them within the host; redirects, missing pages, duplicates with and without
rel=canonical, mirrors on other hosts. The same --seed gives the same bytes. A million
pages take some 4 GB.

With --copies, recorded files are copied that many times instead: each copy has its own
hosts, in its links as well, and a quarter of its distinct words is replaced. So the
links and duplicates of a real crawl stay, and pages of two copies are not duplicates,
except the shortest.

With --tree, the HTML files of directories are written instead, as a server would have
them at a URL: manuals that are installed, for example.`

func (a *app) webCommand() *cobra.Command {
	var pages, hosts, words, copies int
	var seed uint64
	var dir string
	var trees []string
	cmd := &cobra.Command{
		Use:     "web [FILE.warc[.gz]…]",
		Short:   "Write WARC files of a generated web, copies of recorded files, or HTML files of directories",
		Long:    strings.TrimSpace(webHelp),
		Example: examples("web --pages 20000 --out web", "web --copies 7 --out copies crawl.warc.gz", "web --tree https://docs.example/=manual/html --out manuals"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := inRange(cmd, bound{"pages", pages, 1, 100_000_000}, bound{"hosts", hosts, 0, 1_000_000}, bound{"words", words, 1, 20_000}, bound{"copies", copies, 0, 1000})
			switch {
			case err != nil:
				return err
			case (copies > 0) != (len(args) > 0):
				return usage(cmd, "--copies needs files to copy, and files need --copies")
			case len(trees) > 0 && copies > 0:
				return usage(cmd, "--tree and --copies cannot be used together")
			}
			if err := checkFiles(cmd, args); err != nil {
				return err
			}
			roots, err := parseTrees(cmd, trees)
			if err != nil {
				return err
			}
			var res *webgen.Result
			switch {
			case len(roots) > 0:
				res, err = webgen.Trees(cmd.Context(), dir, roots, a.stderr)
			case copies > 0:
				res, err = webgen.Copies(cmd.Context(), dir, args, copies, a.stderr)
			default:
				res, err = webgen.New(seed, pages, hosts, words).Write(cmd.Context(), dir, a.stderr)
			}
			return a.print(err, res, res.Text)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&dir, "out", "o", "web", "`directory` to write to")
	flags.IntVar(&pages, "pages", 10_000, "`number` of URLs, each with one response")
	flags.IntVar(&hosts, "hosts", 0, "`number` of hosts; 0 is one for a thousand pages, and at least three")
	flags.IntVar(&words, "words", webgen.DefaultWords, "`number` of words of the median page, without its menu")
	flags.IntVar(&copies, "copies", 0, "copy the files this `often` instead")
	flags.StringArrayVar(&trees, "tree", nil, "write the HTML files of a directory instead, as at this `URL=DIRECTORY`; may be repeated")
	flags.Uint64Var(&seed, "seed", 1, "`number` that decides about everything drawn")
	return cmd
}

func parseTrees(cmd *cobra.Command, list []string) (trees []webgen.Tree, err error) {
	for _, text := range list {
		t, err := webgen.ParseTree(text)
		if err != nil {
			return nil, usage(cmd, "--tree: %v", err)
		}
		trees = append(trees, t)
	}
	return trees, nil
}
