package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A share is the value of a flag for a part of a whole: 0.05, or 5%.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }

// Type returns the name of the type, for pflag.
func (s *share) Type() string { return "share" }

// Set parses a share. It sets the same value for "0.05" and "5%".
func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return errors.New("not a number")
	}
	if percent {
		n /= 100
	}
	*s = share(n)
	return nil
}

// kinds says in words which values a flag accepts. The keys are pflag's names for the types of flags.
var kinds = map[string]string{
	"int":      "a whole number",
	"int64":    "a whole number",
	"float64":  "a number",
	"share":    "a share such as 0.05 or 5%",
	"duration": "a time such as 500ms, 10s or 2m",
	"bool":     "true or false",
}

// flagError returns an error that says in plain words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &invalid):
		flag := invalid.GetFlag()
		if kind, ok := kinds[flag.Value.Type()]; ok {
			return usage("%s: --%s is %q; it is %s", cmd.Name(), flag.Name, invalid.GetValue(), kind)
		}
	case errors.As(err, &missing):
		flag := missing.GetFlag()
		value, _ := pflag.UnquoteUsage(flag)
		return usage("%s: --%s needs a value: --%s %s", cmd.Name(), flag.Name, flag.Name, strings.ToUpper(value))
	case errors.As(err, &unknown) && unknown.GetSpecifiedName() == "o" && cmd.Flags().Lookup("report") != nil:
		return usage("%s has no -o, which is for keeping the capture of profile and attach; to write to a file: --report FILE", cmd.Name())
	}
	return usage("%s: %v", cmd.Name(), err)
}
