package gasmtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoEmptyTables looks for tables without a row in all tests of the project. A test
// that loops over such a table passes, and tests nothing.
func TestNoEmptyTables(t *testing.T) {
	packages := map[string][]*ast.File{} // the test files of each folder
	files := eachFile(t, func(dir, name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			packages[dir] = append(packages[dir], file)
		}
	})
	require.Greater(t, len(packages), 15)
	loops := 0
	for _, tests := range packages {
		for _, at := range emptyTables(tests, &loops) {
			t.Errorf("%s: a loop over a table without a row", files.Position(at))
		}
	}
	assert.Greater(t, loops, 300, "loops in tests")
}

// emptyTables returns the positions of loops over empty tables: literals without elements, and package variables that
// are declared without elements and never assigned to. It adds the number of all loops to *loops.
func emptyTables(tests []*ast.File, loops *int) (found []token.Pos) {
	empty := map[string]bool{} // the package's variables that may be empty tables
	for _, file := range tests {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, spec := range d.Specs {
					declaredEmpty(spec.(*ast.ValueSpec), empty)
				}
			}
		}
	}
	each(tests, func(n ast.Node) {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
			for _, to := range a.Lhs {
				delete(empty, name(to))
			}
		}
	})
	each(tests, func(n ast.Node) {
		if loop, ok := n.(*ast.RangeStmt); ok {
			*loops++
			if empty[name(loop.X)] || isEmptyLiteral(loop.X) {
				found = append(found, loop.Pos())
			}
		}
	})
	return found
}

// declaredEmpty notes the variables of "var a, b []T" and of "var a = []T{}".
func declaredEmpty(spec *ast.ValueSpec, empty map[string]bool) {
	_, isSlice := spec.Type.(*ast.ArrayType)
	_, isMap := spec.Type.(*ast.MapType)
	for i, n := range spec.Names {
		switch {
		case len(spec.Values) == 0:
			empty[n.Name] = isSlice || isMap
		case i < len(spec.Values):
			empty[n.Name] = isEmptyLiteral(spec.Values[i])
		}
	}
}

func isEmptyLiteral(x ast.Expr) bool {
	literal, ok := x.(*ast.CompositeLit)
	return ok && len(literal.Elts) == 0
}

// name returns the name of the variable in an expression: x for x, x[i], x.f and x[i:j].
func name(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.IndexExpr:
		return name(x.X)
	}
	return ""
}

func each(files []*ast.File, visit func(ast.Node)) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			visit(n)
			return true
		})
	}
}

func TestEmptyTables(t *testing.T) {
	for source, want := range map[string]int{
		"var cases = []int{}\nfunc f() { for range cases {} }":                                  1,
		"var cases []struct{ a int }\nfunc f() { for range cases {} }":                          1,
		"var cases = map[string]int{}\nfunc f() { for range cases {} }":                         1,
		"func f() { for range []int{} {} }":                                                     1,
		"var cases = []int{1}\nfunc f() { for range cases {} }":                                 0,
		"var found []int\nfunc f() { found = append(found, 1); for range found {} }":            0,
		"var found = map[int]int{}\nfunc f() { found[1] = 2; for range found {} }":              0,
		"var found []int\nfunc f() { for range 3 {}; found = nil }":                             0,
		"func f(cases []int) { for range cases {}; for range []string{\"a\"} {}; _ = []int{} }": 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", "package x\n"+source, 0)
		require.NoError(t, err)
		assert.Len(t, emptyTables([]*ast.File{file}, new(int)), want, source)
	}
}
