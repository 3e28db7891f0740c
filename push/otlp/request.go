package otlp

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	pprof "github.com/google/pprof/profile"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/profiles/v1development"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	v1 "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"

	"github.com/gasm-profiler/gasm/push"
)

// requestOf converts a profile to a request. gasm is the version of gasm.
func requestOf(p *push.Profile, gasm string) (*collector.ExportProfilesServiceRequest, error) {
	parsed, err := pprof.Parse(bytes.NewReader(p.Pprof))
	if err != nil {
		return nil, fmt.Errorf("reading the profile: %w", err)
	}
	d := newDictionary()
	scope := &v1.ScopeProfiles{Scope: &common.InstrumentationScope{Name: "gasm", Version: gasm}}
	for i, t := range parsed.SampleType {
		scope.Profiles = append(scope.Profiles, &v1.Profile{
			SampleType:   d.valueType(t),
			TimeUnixNano: uint64(max(parsed.TimeNanos, 0)),
			DurationNano: uint64(max(parsed.DurationNanos, 0)),
			Period:       parsed.Period,
			PeriodType:   d.valueType(parsed.PeriodType),
			ProfileId:    profileID(p.ID, i),
		})
	}
	for _, s := range parsed.Sample {
		stack := d.stack(s.Location)
		for i, v := range s.Value {
			all := &scope.Profiles[i].Samples
			*all = append(*all, &v1.Sample{StackIndex: stack, Values: []int64{v}})
		}
	}
	return &collector.ExportProfilesServiceRequest{Dictionary: d.out, ResourceProfiles: []*v1.ResourceProfiles{
		{Resource: &resource.Resource{Attributes: attributes(p.Labels)}, ScopeProfiles: []*v1.ScopeProfiles{scope}}}}, nil
}

// attributes converts labels to attributes of a resource. The process id is a number, as OpenTelemetry's conventions
// require. All other values are texts.
func attributes(labels []push.Label) (all []*common.KeyValue) {
	for _, l := range labels {
		value := textValue(l.Value)
		if pid, err := strconv.ParseInt(l.Value, 10, 64); err == nil && l.Name == push.ProcessID {
			value = &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: pid}}
		}
		all = append(all, &common.KeyValue{Key: l.Name, Value: value})
	}
	return all
}

func textValue(text string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: text}}
}

// profileID returns the 16 bytes of a UUID. For each sample type after the first, it changes the last byte, so that the
// profiles of a request have different ids.
func profileID(uuid string, sampleType int) []byte {
	id, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	if err != nil || len(id) != 16 {
		return nil // the field is optional
	}
	id[15] ^= byte(sampleType)
	return id
}
