package perfetto

import "encoding/binary"

// A message is an encoded message of protobuf. The methods append fields to it.
type message []byte

// The wire types of protobuf.
const (
	wireVarint = 0
	wireBytes  = 2
)

func (m *message) key(field, wire int) { *m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(wire)) }

// uint appends a field of one of the types uint32, uint64, bool and enum. It can also append an int32 or int64 that is
// not negative.
func (m *message) uint(field int, v uint64) {
	m.key(field, wireVarint)
	*m = binary.AppendUvarint(*m, v)
}

// int appends a field of one of the types int32 and int64.
func (m *message) int(field int, v int64) { m.uint(field, uint64(v)) }

// text appends a field of the type string.
func (m *message) text(field int, s string) {
	m.key(field, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(s)))
	*m = append(*m, s...)
}

// message appends a field that is a message.
func (m *message) message(field int, inner message) {
	m.key(field, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(inner)))
	*m = append(*m, inner...)
}

// Numbers of fields, in the order of the messages in Perfetto's .proto files.
const (
	tracePacket = 1 // Trace.packet

	packetClockSnapshot   = 6 // TracePacket
	packetTimestamp       = 8
	packetSequenceID      = 10
	packetTrackEvent      = 11
	packetInternedData    = 12
	packetSequenceFlags   = 13
	packetClockID         = 58
	packetDefaults        = 59
	packetTrackDescriptor = 60
	packetPerfSample      = 66

	snapshotClocks  = 1 // ClockSnapshot
	snapshotPrimary = 2
	clockID         = 1
	clockTimestamp  = 2

	defaultsPerfSample   = 12 // TracePacketDefaults
	perfDefaultsTimebase = 1  // PerfSampleDefaults
	timebaseFrequency    = 2  // PerfEvents.Timebase
	timebaseCounter      = 4
	timebaseName         = 10

	internedCategories   = 1 // InternedData
	internedEventNames   = 2
	internedArgNames     = 3
	internedFunctions    = 5
	internedFrames       = 6
	internedCallstacks   = 7
	internedMappingPaths = 17
	internedSourcePaths  = 18
	internedMappings     = 19

	internedIID  = 1 // EventCategory, EventName, DebugAnnotationName, InternedString, Mapping, Frame and Callstack
	internedText = 2 // EventCategory, EventName, DebugAnnotationName and InternedString

	mappingPath     = 7 // Mapping
	frameFunction   = 2 // Frame
	frameMapping    = 3
	frameRelPC      = 4
	frameSource     = 5
	frameLine       = 6
	frameKind       = 7
	callstackFrames = 2 // Callstack

	trackUUID    = 1 // TrackDescriptor
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5
	processPID   = 1 // ProcessDescriptor
	processName  = 6
	processStart = 7
	threadPID    = 1 // ThreadDescriptor
	threadTID    = 2
	threadName   = 5

	eventCategory  = 3 // TrackEvent
	eventArgs      = 4
	eventType      = 9
	eventName      = 10
	eventTrack     = 11
	eventCallstack = 56
	argName        = 1 // DebugAnnotation
	argInt         = 4
	argText        = 6
	argPointer     = 7

	samplePID         = 2 // PerfSample
	sampleTID         = 3
	sampleCallstack   = 4
	sampleMode        = 5
	sampleUnwindError = 16
	sampleRecordsLost = 17
)

// Values of enums.
const (
	clockRealtime, clockMonotonic = 1, 3

	flagCleared, flagNeedsState = 1, 2 // SequenceFlags

	typeBegin, typeEnd, typeInstant = 1, 2, 3

	modeKernel, modeUser = 1, 2

	// The error codes of libunwindstack that come closest to gasm's two kinds of incomplete stacks: a stack that was
	// cut off, and a stack with a frame whose caller could not be found.
	errorMemory, errorUnwindInfo = 2, 3

	kindNative, kindKernel, kindInterpreted, kindJIT, kindRuntime = 1, 2, 3, 4, 6
)
