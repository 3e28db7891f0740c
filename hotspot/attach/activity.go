package attach

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// An Activity holds what a JVM's performance data say about collections, safepoints and threads. A number is -1 if the
// data do not contain it.
type Activity struct {
	Collectors []Collector
	// Safepoints counts the safepoints since the JVM's start. SafepointNanos is the total time for which the program
	// was stopped at them. SyncNanos is the total time that threads took to reach them.
	Safepoints, SafepointNanos, SyncNanos int64
	Threads                               int64 // Java threads that are alive
}

// A Collector is one of the JVM's garbage collectors: "G1 young collection pauses", "PSScavenge".
type Collector struct {
	Name  string
	Count int64 // collections since the JVM's start
	Nanos int64 // total time of these collections
}

// maxCollectors limits the number of collectors that are read. A JVM has at most three.
const maxCollectors = 8

// maxCollectorName limits the length of a collector's name, in bytes.
const maxCollectorName = 64

// collectorHead is the prefix of the names of a collector's entries, as in sun.gc.collector.0.invocations.
const collectorHead = "sun.gc.collector."

// parseActivity returns the numbers in HotSpot's file of performance data. The result known is false if the file has
// another format, or contains none of the numbers.
func parseActivity(file []byte) (a Activity, known bool) {
	numbers, names := map[string]int64{}, map[string]string{}
	err := eachEntry(file, func(entry []byte, order binary.ByteOrder) bool {
		if name, value, ok := longEntry(entry, order); ok && wantedNumber(name) {
			numbers[name] = value
		} else if name, text, ok := stringEntry(entry, order); ok && len(name) == len(collectorHead)+len("0.name") &&
			name[:len(collectorHead)] == collectorHead {
			names[name] = text[:min(len(text), maxCollectorName)]
		}
		return true
	})
	if err != nil || len(numbers) == 0 {
		return Activity{Safepoints: -1, SafepointNanos: -1, SyncNanos: -1, Threads: -1}, false
	}
	number := func(name string) int64 {
		if n, ok := numbers[name]; ok && n >= 0 {
			return n
		}
		return -1
	}
	nanos := func(name string) int64 {
		ticks, hertz := number(name), number("sun.os.hrt.frequency")
		if ticks < 0 || hertz <= 0 {
			return -1
		}
		return int64(float64(ticks) * 1e9 / float64(hertz))
	}
	a = Activity{Safepoints: number("sun.rt.safepoints"), SafepointNanos: nanos("sun.rt.safepointTime"),
		SyncNanos: nanos("sun.rt.safepointSyncTime"), Threads: number("java.threads.live")}
	for i := range maxCollectors {
		head := collectorHead + strconv.Itoa(i) + "."
		if count := number(head + "invocations"); count >= 0 {
			a.Collectors = append(a.Collectors, Collector{names[head+"name"], count, nanos(head + "time")})
		}
	}
	return a, true
}

// wantedNumber reports whether parseActivity may need the number in the entry with this name.
func wantedNumber(name string) bool {
	return len(name) > len(collectorHead) && name[:len(collectorHead)] == collectorHead ||
		slices.Contains([]string{"sun.rt.safepoints", "sun.rt.safepointTime", "sun.rt.safepointSyncTime", "java.threads.live",
			"sun.os.hrt.frequency"}, name)
}

// longEntry decodes an entry that is a number.
func longEntry(entry []byte, order binary.ByteOrder) (name string, value int64, ok bool) {
	nameOffset, dataOffset := order.Uint32(entry[nameAt:]), order.Uint32(entry[dataOffsetAt:])
	if entry[dataTypeAt] != 'J' || uint64(nameOffset) > uint64(len(entry)) || uint64(dataOffset)+8 > uint64(len(entry)) {
		return "", 0, false
	}
	name, ok = untilZero(entry[nameOffset:])
	return name, int64(order.Uint64(entry[dataOffset:])), ok
}
