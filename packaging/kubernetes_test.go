package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const manifests = "kubernetes/base"

// decode reads a manifest into Kubernetes's own type. A field that the type does not have is an error.
func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var object T
	require.NoError(t, yaml.UnmarshalStrict(text, &object), "%s", text)
	return object
}

func manifest[T any](t *testing.T, name string) T {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifests, name))
	require.NoError(t, err)
	return decode[T](t, text)
}

// kustomization has the fields of a kustomization.yaml that gasm uses.
type kustomization struct {
	APIVersion         string
	Kind               string
	Namespace          string
	Resources          []string
	Labels             []struct{ Pairs map[string]string }
	ConfigMapGenerator []struct {
		Name  string
		Files []string
	}
	SecretGenerator []struct {
		Name  string
		Files []string
	}
}

func TestManifests(t *testing.T) {
	k := manifest[kustomization](t, "kustomization.yaml")
	assert.ElementsMatch(t, []string{"namespace.yaml", "serviceaccount.yaml", "daemonset.yaml"}, k.Resources)
	space := manifest[core.Namespace](t, "namespace.yaml")
	assert.Equal(t, k.Namespace, space.Name)
	account := manifest[core.ServiceAccount](t, "serviceaccount.yaml")
	set := manifest[apps.DaemonSet](t, "daemonset.yaml")
	assert.Equal(t, "apps/v1 DaemonSet", set.APIVersion+" "+set.Kind)

	pod := set.Spec.Template.Spec
	assert.Equal(t, account.Name, pod.ServiceAccountName)
	assert.True(t, pod.HostPID)
	assert.Equal(t, set.Spec.Selector.MatchLabels, set.Spec.Template.Labels)
	require.Len(t, pod.Containers, 1)
	c := pod.Containers[0]
	rights := c.SecurityContext
	assert.Equal(t, []core.Capability{"ALL"}, rights.Capabilities.Drop)
	assert.ElementsMatch(t, []core.Capability{"PERFMON", "SYS_PTRACE", "SETUID", "SETGID"}, rights.Capabilities.Add)
	assert.True(t, *rights.ReadOnlyRootFilesystem)
	assert.False(t, *rights.AllowPrivilegeEscalation)
	assert.False(t, *rights.Privileged)
	assert.NotEmpty(t, c.Resources.Limits[core.ResourceMemory])
	assert.Contains(t, c.Args, "host.name=$(NODE_NAME)")
	assert.Contains(t, c.Env, core.EnvVar{Name: "NODE_NAME",
		ValueFrom: &core.EnvVarSource{FieldRef: &core.ObjectFieldSelector{FieldPath: "spec.nodeName"}}})

	mounted := map[string]bool{}
	for _, m := range c.VolumeMounts {
		mounted[m.Name] = true
	}
	for _, v := range pod.Volumes {
		assert.True(t, mounted[v.Name], v.Name)
		if v.ConfigMap != nil {
			assert.Equal(t, k.ConfigMapGenerator[0].Name, v.ConfigMap.Name)
		}
		if v.Secret != nil {
			assert.Equal(t, k.SecretGenerator[0].Name, v.Secret.SecretName)
		}
	}
	for _, name := range append(k.ConfigMapGenerator[0].Files, "token.txt", "listen-token.txt") {
		assert.FileExists(t, filepath.Join(manifests, name))
	}
}

// TestKustomize checks that kubectl, if it is installed, makes the same objects of the folder.
func TestKustomize(t *testing.T) {
	tool, err := exec.LookPath("kubectl")
	if err != nil {
		return // TestManifests has checked the files
	}
	out, err := exec.Command(tool, "kustomize", manifests).Output()
	require.NoError(t, err)
	var kinds []string
	for _, part := range splitManifests(out) {
		meta := struct{ Kind string }{}
		require.NoError(t, yaml.Unmarshal(part, &meta))
		kinds = append(kinds, meta.Kind)
		switch meta.Kind {
		case "DaemonSet":
			set := decode[apps.DaemonSet](t, part)
			assert.Equal(t, "gasm", set.Namespace)
			name := set.Spec.Template.Spec.Volumes[0].ConfigMap.Name
			assert.Contains(t, name, "gasm-watch-", "the name changes with the content")
		case "ConfigMap":
			assert.Contains(t, decode[core.ConfigMap](t, part).Data, "watch.conf")
		case "Secret":
			secret := decode[core.Secret](t, part)
			assert.Len(t, secret.Data, 2)
		}
	}
	assert.ElementsMatch(t, []string{"Namespace", "ServiceAccount", "ConfigMap", "Secret", "DaemonSet"}, kinds)
}

func splitManifests(text []byte) [][]byte { return bytes.Split(text, []byte("\n---\n")) }
