package collectortest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/featuregate"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// A kept is an exporter of the collector that keeps what it gets.
type kept struct {
	component.StartFunc
	component.ShutdownFunc
	mu  sync.Mutex
	all []pprofile.Profiles
}

func (*kept) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (k *kept) ConsumeProfiles(_ context.Context, p pprofile.Profiles) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := pprofile.NewProfiles()
	p.CopyTo(c)
	k.all = append(k.all, c)
	return nil
}

var keptType = component.MustNewType("kept")

// startCollector runs a collector with its OTLP receiver for HTTP, until the test ends. It returns the receiver's
// address.
func startCollector(t *testing.T, to *kept) (address string) {
	t.Helper()
	require.NoError(t, featuregate.GlobalRegistry().Set("service.profilesSupport", true))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = listener.Addr().String()
	listener.Close() // the collector opens it again
	factories := func() (otelcol.Factories, error) {
		e := xexporter.NewFactory(keptType, func() component.Config { return &struct{}{} },
			xexporter.WithProfiles(func(context.Context, exporter.Settings, component.Config) (xexporter.Profiles, error) {
				return to, nil
			}, component.StabilityLevelDevelopment))
		r := otlpreceiver.NewFactory()
		return otelcol.Factories{Receivers: map[component.Type]receiver.Factory{r.Type(): r},
			Exporters: map[component.Type]exporter.Factory{e.Type(): e},
			Telemetry: otelconftelemetry.NewFactory()}, nil
	}
	config := fmt.Sprintf(`
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {kept: {}}
service:
  telemetry: {metrics: {level: none}, logs: {level: warn}}
  pipelines: {profiles: {receivers: [otlp], exporters: [kept]}}
`, address)
	c, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: component.NewDefaultBuildInfo(), Factories: factories, DisableGracefulShutdown: true,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs: []string{"yaml:" + config}, ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()}}}})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.WithoutCancel(t.Context())) }()
	t.Cleanup(func() {
		c.Shutdown()
		require.NoError(t, <-ended)
	})
	require.Eventually(t, func() bool { return c.GetState() == otelcol.StateRunning || len(ended) > 0 }, time.Minute,
		10*time.Millisecond)
	require.Empty(t, ended, "the collector has ended")
	return address
}
