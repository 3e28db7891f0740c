// Package labels finds the labels of a JVM's profiles, by which users of a profile server search for them. Their names
// follow OpenTelemetry's conventions:
//
//   - service.name: OTEL_SERVICE_NAME or service.name in OTEL_RESOURCE_ATTRIBUTES of the JVM's own environment, else
//     the jar without .jar or the main class
//   - host.name, process.pid
//   - container.id, if the JVM runs in a container, from its cgroup
//   - service.version, deployment.environment, k8s.pod.name and a few more, from OTEL_RESOURCE_ATTRIBUTES
//
// What comes from the JVM is not trusted. Only these attributes are used, so a program can't add labels of its own, and
// their values are shortened and cleaned.
package labels

import (
	"cmp"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/push"
)

// attributes are the OpenTelemetry attributes that become labels if they are set in a JVM's environment.
var attributes = []string{push.ServiceName, "service.namespace", "service.version",
	"deployment.environment", "deployment.environment.name", "k8s.cluster.name", "k8s.namespace.name",
	"k8s.deployment.name",
	"k8s.pod.name", "k8s.container.name", "k8s.node.name", "cloud.region"}

const containerIDName = "container.id"

// Limits for what is read from a JVM.
const (
	maxText  = 1 << 20 // bytes of its environment, and of the list of its cgroups
	maxValue = 200     // bytes of a label's value
)

// Of returns the labels of a JVM, sorted by name. The labels in set, which come from the user, take precedence. Of may
// take some seconds if the JVM does not answer.
func Of(j *attach.Process, set []push.Label) []push.Label {
	var environment, cgroups string
	if p, err := foreign.Open(j.PID); err == nil { // labels that can't be read are left out
		text, _ := p.Read("environ", maxText)
		environment = string(text)
		text, _ = p.Read("cgroup", maxText)
		cgroups = string(text)
		p.Close()
	}
	host, _ := os.Hostname()
	return of(j, set, host, environment, cgroups)
}

// Basic returns the labels of a JVM that can be had without reading the files of its process.
func Basic(j *attach.Process, set []push.Label) []push.Label {
	host, _ := os.Hostname()
	return of(j, set, host, "", "")
}

func of(j *attach.Process, set []push.Label, host, environment, cgroups string) []push.Label {
	all := fromEnvironment(environment)
	all[push.ServiceName] = cmp.Or(all[push.ServiceName], clean(strings.TrimSuffix(j.Main, ".jar")), "java")
	all[push.HostName] = clean(host)
	all[push.ProcessID] = strconv.Itoa(j.PID)
	all[containerIDName] = containerID(cgroups)
	for _, l := range set {
		all[l.Name] = l.Value
	}
	var labels []push.Label
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			labels = append(labels, push.Label{Name: name, Value: all[name]})
		}
	}
	return labels
}

// fromEnvironment returns the attributes that OpenTelemetry's variables set. OTEL_SERVICE_NAME takes precedence, as the
// specification of OpenTelemetry requires.
func fromEnvironment(environment string) map[string]string {
	found := map[string]string{}
	service := ""
	for entry := range strings.SplitSeq(environment, "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "OTEL_SERVICE_NAME":
			service = value
		case "OTEL_RESOURCE_ATTRIBUTES":
			for pair := range strings.SplitSeq(value, ",") {
				key, text, _ := strings.Cut(pair, "=")
				if key = strings.TrimSpace(key); !slices.Contains(attributes, key) {
					continue
				}
				if decoded, err := url.PathUnescape(text); err == nil {
					text = decoded
				}
				found[key] = clean(text)
			}
		}
	}
	if service = clean(service); service != "" {
		found[push.ServiceName] = service
	}
	return found
}

// clean returns a value that every server accepts: UTF-8, not too long, and with _ in place of unprintable characters.
func clean(value string) string {
	value = strings.ToValidUTF8(value, "_")
	value = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, strings.TrimSpace(value))
	if len(value) > maxValue {
		value = strings.ToValidUTF8(value[:maxValue], "")
	}
	return value
}

// container matches the id of a container in the path of a cgroup: "/docker/ID", "/system.slice/docker-ID.scope",
// "/kubepods/besteffort/podX/ID", "…/cri-containerd-ID.scope".
var container = regexp.MustCompile(`(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?$`)

// containerID returns the id of the container of a process with these cgroups, or "".
func containerID(cgroups string) string {
	for line := range strings.Lines(cgroups) {
		if found := container.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
			return found[1]
		}
	}
	return ""
}

// Parse parses a label such as "team=shop".
func Parse(text string) (l push.Label, ok bool) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || !labelName.MatchString(name) || strings.HasPrefix(name, "__") || value == "" || clean(value) != value {
		return l, false
	}
	return push.Label{Name: canonical(name), Value: value}, true
}

// canonical returns this package's spelling of a label's name, in which Pyroscope writes _ for dots.
func canonical(name string) string {
	for _, known := range append([]string{push.HostName, push.ProcessID, containerIDName}, attributes...) {
		if strings.ReplaceAll(known, ".", "_") == strings.ReplaceAll(name, ".", "_") {
			return known
		}
	}
	return name
}

// labelName matches the names that all servers accept. Pyroscope reads their dots as _.
var labelName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]{0,99}$`)
