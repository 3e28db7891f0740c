package main

import (
	"archive/tar"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
)

// untar unpacks an archive into a folder, with the modes of its files.
func untar(t *testing.T, in io.Reader, to string) {
	t.Helper()
	archive := tar.NewReader(in)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		assert.EqualValues(t, 1_700_000_000, h.ModTime.Unix(), h.Name)
		path := filepath.Join(to, h.Name)
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text, os.FileMode(h.Mode)))
	}
}

// openImage opens the image in a release for this machine.
func openImage(t *testing.T, archive string) v1.Image {
	t.Helper()
	f, err := os.Open(archive)
	require.NoError(t, err)
	defer f.Close()
	folder := t.TempDir()
	untar(t, f, folder)
	index, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	top, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, top.Manifests, 1)
	assert.Equal(t, "1.2.3-rc.1", top.Manifests[0].Annotations["org.opencontainers.image.ref.name"])
	platforms, err := index.ImageIndex(top.Manifests[0].Digest)
	require.NoError(t, err)
	list, err := platforms.IndexManifest()
	require.NoError(t, err)
	for _, m := range list.Manifests {
		if m.Platform.Architecture == runtime.GOARCH {
			image, err := platforms.Image(m.Digest)
			require.NoError(t, err)
			return image
		}
	}
	require.Fail(t, "no image for this machine")
	return nil
}

// checkImage checks the image of a release, and runs gasm in it.
func checkImage(t *testing.T, dir string) {
	image := openImage(t, filepath.Join(dir, "gasm-1.2.3-rc.1.oci.tar"))
	config, err := image.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, []string{"/usr/bin/gasm"}, config.Config.Entrypoint)
	assert.EqualValues(t, 1_700_000_000, config.Created.Unix())
	layers, err := image.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	files, err := layers[0].Uncompressed()
	require.NoError(t, err)
	defer files.Close()
	root := openFolder(t)
	untar(t, files, root)
	text, err := os.ReadFile(filepath.Join(root, imageCertificates))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	assert.Greater(t, strings.Count(string(text), "BEGIN CERTIFICATE"), 100)

	out, err := exec.Command(filepath.Join(root, imageProgram), "version").Output()
	require.NoError(t, err)
	assert.Equal(t, "gasm 1.2.3-rc.1\n", string(out))
	t.Run("in its root", func(t *testing.T) { watchInImage(t, root) })
}

// watchInImage runs gasm watch with the image as its root folder, which is read-only, and with the rights that the
// DaemonSet has. It profiles a JVM of the host, whose files are not in the image.
func watchInImage(t *testing.T, root string) {
	needRoot(t)
	set := manifest[apps.DaemonSet](t, "daemonset.yaml")
	keep := "-all,+sys_chroot" // with which this test enters the image
	for _, c := range set.Spec.Template.Spec.Containers[0].SecurityContext.Capabilities.Add {
		keep += ",+" + strings.ToLower(string(c))
	}
	for _, folder := range []string{"proc", "sys"} { // a container engine mounts these
		require.NoError(t, os.Mkdir(filepath.Join(root, folder), 0o755))
	}
	pid := startJVM(t)
	const enter = `set -e
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount --rbind /proc "$ROOT/proc"
mount --bind -o ro /sys "$ROOT/sys"
mount -t tmpfs -o size=1g tmpfs "$ROOT/var/cache/gasm"
mount -o remount,bind,ro "$ROOT"
if touch "$ROOT/gasm-test" 2>/dev/null; then echo "the image is not read-only" >&2; exit 1; fi
exec setpriv --bounding-set "$KEEP" --inh-caps "-all" --no-new-privs chroot "$ROOT" /usr/bin/gasm "$@"`
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "sh", "-c", enter, "sh", "watch", "--every", "5s",
		strconv.Itoa(pid))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=/var/cache/gasm", "ROOT=" + root, "KEEP=" + keep}
	checkWatch(t, pid, cmd)
}
