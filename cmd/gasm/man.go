package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gasm-profiler/gasm/cmd/gasm/halfwritten"
	"github.com/gasm-profiler/gasm/cmd/gasm/man"
)

// manCommand returns the hidden command that writes the manual pages. It is for those who build packages.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages, which packages have, into a folder",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("man: name a folder for the manual pages")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, c := range man.Documented(cmd.Root()) {
				path := filepath.Join(args[0], man.Name(c)+".1")
				write := func(w io.Writer) error { return man.Write(w, c, version) }
				if err := new(halfwritten.Files).Write(path, write); err != nil {
					return fmt.Errorf("writing the manual: %w", err)
				}
			}
			return nil
		},
	}
}
