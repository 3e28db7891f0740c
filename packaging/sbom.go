package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes a list of the modules in each program, in the format CycloneDX. The list has Go's own library, and
// the modules that `go version -m` prints for the program.
func (r *release) writeSBOM(programs []program) error {
	bom := cdx.NewBOM()
	modules := map[string]cdx.Component{}
	var built []cdx.Component
	var dependencies []cdx.Dependency
	for i := range programs {
		p := &programs[i]
		sum, err := sha256Of(p.path)
		if err != nil {
			return err
		}
		name := r.archiveName(p.os, p.arch)
		built = append(built, cdx.Component{BOMRef: name, Type: cdx.ComponentTypeApplication, Name: "gasm",
			Version:     r.version,
			Description: p.os + "/" + p.arch, Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}})
		var refs []string
		for _, m := range modulesOf(p) {
			modules[m.BOMRef] = m
			refs = append(refs, m.BOMRef)
		}
		slices.Sort(refs)
		dependencies = append(dependencies, cdx.Dependency{Ref: name, Dependencies: &refs})
	}
	libraries := slices.SortedFunc(maps.Values(modules), func(a,
		b cdx.Component) int {
		return cmp.Compare(a.BOMRef, b.BOMRef)
	})
	components := append(built, libraries...)
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &cdx.Component{
		BOMRef: "gasm", Type: cdx.ComponentTypeApplication, Name: "gasm", Version: r.version,
		PackageURL: "pkg:golang/" + programs[0].info.Main.Path + "@v" + r.version,
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}}}
	bom.Components, bom.Dependencies = &components, &dependencies
	bom.SerialNumber = serialNumber(components)
	return create(filepath.Join(r.out, "gasm-"+r.version+".cdx.json"), func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// modulesOf returns the modules in a program. Go's own library comes first.
func modulesOf(p *program) []cdx.Component {
	library := func(name, version string) cdx.Component {
		purl := "pkg:golang/" + name + "@" + version
		return cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl}
	}
	all := []cdx.Component{library("std", strings.TrimPrefix(p.info.GoVersion, "go"))}
	for _, m := range p.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := library(m.Path, m.Version)
		if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
		}
		all = append(all, c)
	}
	return all
}

// serialNumber returns a UUID that is a hash of the components. With a random UUID, two builds of the same sources
// would differ.
func serialNumber(components []cdx.Component) string {
	sum := sha256.New()
	for _, c := range components {
		fmt.Fprintln(sum, c.BOMRef, c.Hashes)
	}
	u := sum.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version 8: the other bits are up to the application
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
