package probe

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// builtWith is the version of javac that has compiled agent.jar. Other versions write different class files.
const builtWith = "javac 17."

// TestAgentIsBuilt builds the agent from its sources. The result must be the jar that is committed (make agent).
func TestAgentIsBuilt(t *testing.T) {
	gasmtest.NeedTime(t)
	mvn := gasmtest.NeedTool(t, "mvn", "apt-get install maven")
	gasmtest.NeedTool(t, "javac", "apt-get install openjdk-17-jdk-headless")
	if version, err := exec.Command("javac", "-version").CombinedOutput(); err != nil ||
		!strings.HasPrefix(string(version), builtWith) {
		t.Skipf("the agent is built with %s, and this machine has %s", builtWith, version)
	}
	target := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	pom := filepath.Join(filepath.Dir(gasmtest.Testdata()), "agent", "pom.xml")
	out, err := exec.CommandContext(ctx, mvn, "-q", "-B", "-Dstyle.color=never", "-Dgasm.target="+target, "-f", pom,
		"package").CombinedOutput()
	require.NoError(t, err, "%s", out)
	built, err := os.ReadFile(filepath.Join(target, "agent.jar"))
	require.NoError(t, err)
	if !bytes.Equal(built, agentJar) {
		t.Errorf("agent.jar is out of date (make agent): %s differ", strings.Join(differing(t, agentJar, built), ", "))
	}
}

// differing returns the names of the entries that differ between two jars.
func differing(t *testing.T, a, b []byte) (names []string) {
	t.Helper()
	inA, inB := entries(t, a), entries(t, b)
	for name, content := range inB {
		if inA[name] != content {
			names = append(names, name)
		}
	}
	for name := range inA {
		if _, ok := inB[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

func entries(t *testing.T, jar []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	require.NoError(t, err)
	found := map[string]string{}
	for _, e := range z.File {
		r, err := e.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		found[e.Name] = string(content)
	}
	return found
}

// TestAgentSize: the agent must be small, because it is a part of gasm and of each capture's folder. ASM alone has
// 126 kB.
func TestAgentSize(t *testing.T) {
	assert.Less(t, len(agentJar), 172_000)
}
