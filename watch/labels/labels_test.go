package labels

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/push"
)

func mapOf(labels []push.Label) map[string]string {
	m := map[string]string{}
	for _, l := range labels {
		m[l.Name] = l.Value
	}
	return m
}

func TestLabels(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for _, test := range []struct {
		name                 string
		main                 string
		set                  []push.Label
		environment, cgroups string
		want                 map[string]string // without host.name and process.pid
	}{
		{"a class", "org.acme.Server", nil, "HOME=/root\x00", "0::/user.slice\n",
			map[string]string{"service.name": "org.acme.Server"}},
		{"a jar", "shop.jar", nil, "", "", map[string]string{"service.name": "shop"}},
		{"nothing is known", "", nil, "", "", map[string]string{"service.name": "java"}},
		{"OTEL_SERVICE_NAME takes precedence", "x", nil,
			"OTEL_RESOURCE_ATTRIBUTES=service.name=b,service.version=1.2\x00OTEL_SERVICE_NAME=a\x00", "",
			map[string]string{"service.name": "a", "service.version": "1.2"}},
		{"attributes", "x", nil, "OTEL_RESOURCE_ATTRIBUTES= k8s.pod.name=p-1 ,deployment.environment=a%20b,secret=1,__name__=x,service.version", "",
			map[string]string{"service.name": "x", "k8s.pod.name": "p-1", "deployment.environment": "a b"}},
		{"the user's", "x", []push.Label{{Name: "service.name", Value: "mine"}, {Name: "team", Value: "t"}},
			"OTEL_SERVICE_NAME=a", "",
			map[string]string{"service.name": "mine", "team": "t"}},
		{"docker", "x", nil, "", "12:cpu:/\n0::/system.slice/docker-" + id + ".scope\n",
			map[string]string{"service.name": "x", "container.id": id}},
		{"kubernetes", "x", nil, "", "1:name=systemd:/kubepods/besteffort/pod1/" + id + "\n",
			map[string]string{"service.name": "x", "container.id": id}},
		{"containerd", "x", nil, "", "0::/kubepods.slice/cri-containerd-" + id + ".scope\n",
			map[string]string{"service.name": "x", "container.id": id}},
		{"no container", "x", nil, "", "0::/a" + id + "b\n0::/" + id[1:] + "\n", map[string]string{"service.name": "x"}},
		{"hostile", "x", nil, "OTEL_SERVICE_NAME=\x1b[2Ja\u202e\xff" + strings.Repeat("ü", 300) + "\x00OTEL_SERVICE_NAME", "",
			map[string]string{"service.name": "x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := of(&attach.Process{PID: 7, Main: test.main}, test.set, "h", test.environment, test.cgroups)
			want := maps.Clone(test.want)
			want["host.name"], want["process.pid"] = "h", "7"
			assert.Equal(t, want, mapOf(got))
			assert.True(t, slices.IsSortedFunc(got, func(a, b push.Label) int { return strings.Compare(a.Name, b.Name) }))
		})
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{" a b ": "a b", "\x1b[2Ja": "_[2Ja", "a\u202eb\xffc": "a_b_c",
		strings.Repeat("ü", 150):       strings.Repeat("ü", 100),
		"x" + strings.Repeat("ü", 150): "x" + strings.Repeat("ü", 99)} {
		assert.Equal(t, want, clean(text))
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]push.Label{"team=a=b": {Name: "team", Value: "a=b"},
		"service_name=x":           {Name: "service.name", Value: "x"},
		"deployment_environment=p": {Name: "deployment.environment", Value: "p"}, "a.b=c": {Name: "a.b", Value: "c"}} {
		l, ok := Parse(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, l)
	}
	for _, text := range []string{"", "x", "x=", "=x", "__name__=x", "a-b=x", "1=x", "x=\n", "x=\xff",
		"x=" + strings.Repeat("x", 300)} {
		_, ok := Parse(text)
		assert.False(t, ok, text)
	}
}

func FuzzLabels(f *testing.F) {
	f.Add("OTEL_SERVICE_NAME=a\x00OTEL_RESOURCE_ATTRIBUTES=service.version=%20", "0::/x\n")
	f.Fuzz(func(t *testing.T, environment, cgroups string) {
		labels := of(&attach.Process{PID: 1}, nil, "h", environment, cgroups)
		assert.LessOrEqual(t, len(labels), len(attributes)+3)
		for _, l := range labels {
			assert.NotEmpty(t, l.Value)
			assert.LessOrEqual(t, len(l.Value), maxValue)
			assert.Equal(t, l.Value, clean(l.Value))
		}
	})
}
