package schema

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An object is what the JSON Schema says about one object.
type object struct {
	Required             []string
	Properties           map[string]object
	Items                *object
	Ref                  string `json:"$ref"`
	AdditionalProperties json.RawMessage
	Defs                 map[string]object `json:"$defs"`
}

// The types of this package and the JSON Schema, which other programs rely on, have the same members, and the same
// members may be missing in both.
func TestSchemaFile(t *testing.T) {
	text, err := os.ReadFile("../testdata/schema1.json")
	require.NoError(t, err)
	var root object
	require.NoError(t, json.Unmarshal(text, &root))
	compared := 0
	var compare func(path string, typ reflect.Type, rule object)
	compare = func(path string, typ reflect.Type, rule object) {
		for rule.Ref != "" {
			name := strings.TrimPrefix(rule.Ref, "#/$defs/")
			require.Contains(t, root.Defs, name, path)
			rule = root.Defs[name]
		}
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			if typ.Kind() == reflect.Slice {
				require.NotNil(t, rule.Items, path)
				rule = *rule.Items
				for rule.Ref != "" {
					rule = root.Defs[strings.TrimPrefix(rule.Ref, "#/$defs/")]
				}
			}
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		if strings.HasPrefix(typ.Name(), "PerEvent[") { // the members have the events' names
			values, _ := typ.FieldByName("Values")
			var member object
			require.NoError(t, json.Unmarshal(rule.AdditionalProperties, &member), path)
			if values.Type.Elem().Kind() == reflect.Struct {
				compare(path+".*", values.Type.Elem(), member)
			}
			return
		}
		compared++
		var names []string
		required := map[string]bool{}
		for _, f := range reflect.VisibleFields(typ) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			require.NotEmpty(t, name, "%s.%s", path, f.Name)
			names = append(names, name)
			if !strings.HasPrefix(options, "omit") {
				required[name] = true
			}
			require.Contains(t, rule.Properties, name, path)
			compare(path+"."+name, f.Type, rule.Properties[name])
		}
		for name := range rule.Properties {
			assert.Contains(t, names, name, "%s: only the JSON Schema has it", path)
		}
		for _, name := range rule.Required {
			assert.True(t, required[name], "%s.%s can be missing", path, name)
		}
		assert.Len(t, rule.Required, len(required), "%s: the members that are always there are %v, those required %v", path,
			required, rule.Required)
	}
	compare("report", reflect.TypeFor[Report](), root)
	assert.Equal(t, 92, compared, "number of objects that were compared")
}

func TestPerEvent(t *testing.T) {
	c := Counts{Events: []string{"cycles", "branches"}, Values: []int64{7, 1}}
	text, err := json.Marshal(c)
	require.NoError(t, err)
	assert.Equal(t, `{"cycles":7,"branches":1}`, string(text), "in the order of the events")
	var read Counts
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, c, read)
	assert.EqualValues(t, 1, read.Of("branches"))
	assert.Zero(t, read.Of("page-faults"))
	assert.False(t, read.IsZero())
	require.NoError(t, json.Unmarshal([]byte(`{"a":1,"b":2,"a":3}`), &read))
	assert.Equal(t, Counts{Events: []string{"a", "b"}, Values: []int64{3, 2}}, read, "the last member of a name counts")
	require.NoError(t, json.Unmarshal([]byte(`null`), &read))
	assert.True(t, read.IsZero())
	for _, bad := range []string{`[1]`, `7`, `{"a":"x"}`, `{"a":1`} {
		assert.Error(t, json.Unmarshal([]byte(bad), &read), bad)
	}
}

func TestAddress(t *testing.T) {
	a := Address(0xfffffffffffffff0)
	text, err := json.Marshal(a)
	require.NoError(t, err)
	assert.Equal(t, `"0xfffffffffffffff0"`, string(text))
	var read Address
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, a, read)
	assert.ErrorContains(t, json.Unmarshal([]byte(`"12z"`), &read), `"12z" is not an address`)
	assert.Error(t, json.Unmarshal([]byte(`12`), &read))
}

// FuzzReport reads any text as a report. Whatever can be read is written back unchanged.
func FuzzReport(f *testing.F) {
	text, err := os.ReadFile("../testdata/small.json")
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"schema":1,"profiles":[{"account":{"a":{}},"slices":{"a":[1]},"jvms":[{"counts":{"a":1,"b":2}}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second Report
		if json.Unmarshal(text, &first) != nil {
			return
		}
		again, err := json.Marshal(&first)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(again, &second))
		twice, err := json.Marshal(&second)
		require.NoError(t, err)
		require.Equal(t, string(again), string(twice))
	})
}
