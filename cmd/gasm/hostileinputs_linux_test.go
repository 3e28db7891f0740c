package main

import (
	"bufio"
	le "encoding/binary"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
)

// The process id of the JVM in the inputs, and an address of its code.
const (
	hostilePID  = 4711
	hostileCode = 0x7f0000000000
)

const hostileHeader = `<?xml version='1.0' encoding='UTF-8'?>
<hotspot_log version='160 1' process='4711' time_ms='1795223087175'>
<vm_version>
<info>
OpenJDK 64-Bit Server VM (17.0.21+1) for linux-amd64 JRE (17.0.21+1), built on Oct 29 2026 04:34:15
</info>
</vm_version>
<tty>
`

// A filler writes a file of an input until the file is large enough.
type filler struct {
	*bufio.Writer
	left int
}

func (f *filler) printf(format string, args ...any) {
	n, _ := fmt.Fprintf(f.Writer, format, args...) // the flush returns the error
	f.left -= n
}

// fill writes lines until the file is large enough. The parameter of line is the number of the line.
func (f *filler) fill(line func(i int) string) {
	for i := 0; f.left > 0; i++ {
		n, _ := f.WriteString(line(i)) // as above
		f.left -= n
	}
}

// repeat writes a text until the file is large enough.
func (f *filler) repeat(text string) { f.fill(func(int) string { return text }) }

// write writes a file.
func (h *hostile) write(name string, write func(f *filler)) {
	file, err := os.Create(h.file(name))
	require.NoError(h.t, err)
	defer file.Close()
	f := filler{bufio.NewWriterSize(file, 1<<20), h.size}
	write(&f)
	require.NoError(h.t, f.Flush())
}

// sample returns a line of perf script.
func sample(i int, pc uint64) string {
	return fmt.Sprintf("java %d/%d %d.%06d: cpu-clock: %x [unknown] (//anon)\n", hostilePID, hostilePID, 10+i/1e6, i%1e6,
		pc)
}

// samples writes a samples.txt with n samples. Their addresses are step bytes apart.
func (h *hostile) samples(n, step int) {
	h.write("samples.txt", func(f *filler) {
		for i := range n {
			f.printf("%s", sample(i, hostileCode+uint64(i*step)))
		}
	})
}

// log writes the log of the input's JVM.
func (h *hostile) log(write func(f *filler)) {
	h.write("asm-4711.log", func(f *filler) {
		f.printf("%s", hostileHeader)
		write(f)
		f.printf("</tty>\n</hotspot_log>\n")
	})
}

// method returns the beginning of a method's text in a log.
func method(id int, name string, lo, hi uint64) string {
	return fmt.Sprintf("Compiled method (c2) 1 %d 4 %s (13 bytes)\n main code [0x%x,0x%x] = 0\n", id, name, lo, hi)
}

// good writes a small log without any faults.
func (h *hostile) good() {
	h.log(func(f *filler) {
		f.printf("%s[MachCode]\n  0x%x: 9090 9090\n[/MachCode]\n", method(1, "a.B::c", hostileCode, hostileCode+4),
			hostileCode)
	})
}

// description writes a capture.json in which a list is filled until the file is large enough.
func (h *hostile) description(list string, element func(i int) string) {
	h.write("capture.json", func(f *filler) {
		f.printf(`{"schema":1,"command":["java"],"sampler":"perf","events":["cpu-clock"],"frequency":1001`)
		if list != "jvms" {
			f.printf(`,"jvms":[{"pid":4711,"log":"asm-4711.log","start_mono_nanos":1}]`)
		}
		f.printf(`,"%s":[`, list)
		for i := 0; f.left > 0; i++ {
			if i > 0 {
				f.printf(",")
			}
			f.printf("%s", element(i))
		}
		f.printf("%s\n", strings.Repeat("]}", 1+strings.Count(list, "[")))
	})
}

// bytesRow returns a line with 32 bytes of code.
func bytesRow(addr uint64) string {
	return fmt.Sprintf("  0x%016x: 9090 9090 | 9090 9090 | 9090 9090 | 9090 9090 | 9090 9090 | 9090 9090 | 9090 9090 | 9090 9090\n", addr)
}

// inXCTrace makes an xctrace export as the samples.
func inXCTrace(element func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.good()
		h.write("samples.txt", func(f *filler) {
			f.printf(`<trace-query-result><node><schema name="time-profile"/>`)
			f.fill(element)
			f.printf("</node></trace-query-result>")
		})
	}
}

// inCode makes a log with one large method. Its samples are at its start, or spread over all of it.
func inCode(samples, step int, form string, line func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.samples(samples, step)
		h.log(func(f *filler) {
			f.printf("%s%s\n", method(1, "a.B::c", hostileCode, hostileCode+1<<26), form)
			f.printf("  0x%x: 9090 9090\n", hostileCode)
			f.fill(line)
			f.printf("[/MachCode]\n")
		})
	}
}

// inLog makes a log from lines.
func inLog(line func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.samples(1000, 4)
		h.log(func(f *filler) { f.fill(line) })
	}
}

// inSamples makes samples from lines, and a good log.
func inSamples(line func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.good()
		h.write("samples.txt", func(f *filler) { f.fill(line) })
	}
}

// inDescription makes a capture.json. The given list in it has elements that the function element returns.
func inDescription(list string, element func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.good()
		h.samples(1000, 1)
		h.description(list, element)
	}
}

// inEvents makes a log of events from lines, and a good log of code.
func inEvents(line func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.good()
		h.samples(1000, 4)
		h.write("ev-4711.log", func(f *filler) { f.fill(line) })
	}
}

// inUSDT makes a text of USDT probes from lines, and a good log of code.
func inUSDT(line func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.good()
		h.samples(1000, 4)
		h.write("usdt-4711.log", func(f *filler) { f.fill(line) })
	}
}

// probeWords returns words of 8 bytes: the head of a segment, see package event/rings.
func probeWords(words ...int64) string {
	var b []byte
	for _, w := range words {
		b = le.LittleEndian.AppendUint64(b, uint64(w))
	}
	return string(b)
}

// inProbes makes a file with the counts of probes, and good samples. The function write writes the file's segments.
func inProbes(write func(f *filler)) func(h *hostile) {
	return func(h *hostile) {
		h.good()
		h.samples(1000, 4)
		h.write("capture.json", func(f *filler) {
			f.printf(`{"schema":1,"command":["java"],"sampler":"perf","events":["cpu-clock"],"frequency":1001,` +
				`"jvms":[{"pid":4711,"log":"asm-4711.log","start_mono_nanos":1,"probed":true}]}`)
		})
		h.write("probes-4711.txt", func(f *filler) { f.printf("site\t1\tmethod\ta.B\tc\t()V\twindow\ta.B::c\n") })
		h.write("probes-4711.ring", func(f *filler) {
			f.printf("%s%s", probeWords(0x31626f72706d6767, 4711, 1, 1<<40, 0, 0, 0), strings.Repeat("\x00", 4096-56))
			write(f)
		})
	}
}

// openRecording returns the beginning of a recording, after which events may follow. See package event/jfr.
var openRecording = sync.OnceValue(func() string {
	text, err := os.ReadFile("../../event/jfr/testdata/open.jfr")
	if err != nil {
		panic(err) // the tests of event/jfr have written the file
	}
	return string(text)
})

// inRecording makes a recording, and good samples of the second in which it was made.
func inRecording(write func(f *filler)) func(h *hostile) {
	return func(h *hostile) {
		h.good()
		h.write("samples.txt", func(f *filler) {
			for i := range 1000 {
				f.printf("%s", sample(i*1000, hostileCode+uint64(i%4)))
			}
		})
		h.write("capture.json", func(f *filler) {
			f.printf(`{"schema":1,"command":["java"],"sampler":"perf","events":["cpu-clock"],"frequency":1001,"clocks":[{"mono_nanos":10000000000,"wall_nanos":1700000000000123457}],` +
				`"jvms":[{"pid":4711,"log":"asm-4711.log","start_mono_nanos":1,"recordings":["ev-4711.jfr"]}],` +
				`"trials":[{"windows":[{"pid":4711,"from_mono_nanos":1,"to_mono_nanos":20000000000}]}]}`)
		})
		h.write("ev-4711.jfr", write)
	}
}

// inRecordedEvents makes a recording of events.
func inRecordedEvents(event func(i int) []byte) func(h *hostile) {
	return inRecording(func(f *filler) {
		f.printf("%s", openRecording())
		f.fill(func(i int) string { return string(event(i)) })
	})
}

// recordedEvent returns an event of the type test.Event. It lasts a millisecond, and begins 1 µs after the event
// before it.
func recordedEvent(i, thread, stack int, text string) []byte {
	body := []byte{21}
	for _, v := range []int{1000 * i, 1_000_000, thread, stack, 3} {
		body = appendVarint(body, v)
	}
	if text == "" {
		body = append(body, 1)
	} else {
		body = append(appendVarint(append(body, 3), len(text)), text...)
	}
	body = append(body, make([]byte, 9)...) // a number and a double
	size := len(body) + 4
	return append([]byte{byte(size)&0x7f | 0x80, byte(size>>7)&0x7f | 0x80, byte(size>>14)&0x7f | 0x80, byte(size >> 21)},
		body...)
}

// appendVarint appends a number, with seven bits in each byte.
func appendVarint(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func always(text string) func(int) string { return func(int) string { return text } }

var hostileInputs = []hostileInput{
	// HotSpot's log: the addresses of code.
	{"overlapping methods", inLog(func(i int) string {
		lo := hostileCode + uint64(i)*16
		return method(i+1, fmt.Sprintf("a.B::m%d", i), lo, lo+1<<26)
	}), ""},
	{"ranges of the whole memory", inLog(func(i int) string {
		return method(i+1, "a.B::c", uint64(i), 1<<63)
	}), `pieces of code could not be read`},
	{"tiny stubs", inLog(func(i int) string {
		return fmt.Sprintf("a [0x%x,0x%x] (1 bytes)\n", hostileCode+i*2, hostileCode+i*2+1)
	}), ""},
	{"stubs without ranges", inLog(always("Decoding a\n")), "pieces of code could not be read"},
	{"signature handlers", inLog(always("argument handler #\n")), "pieces of code could not be read"},
	{"marks without methods", inLog(always("[MachCode]\n")), "pieces of code could not be read"},
	{"cut first lines", inLog(always("Compiled method (\n")), "pieces of code could not be read"},
	{"one method, printed again and again", inLog(func(int) string {
		return method(1, "a.B::c", hostileCode,
			hostileCode+64)
	}), ""},
	{"source files of classes", inLog(func(i int) string {
		return fmt.Sprintf("<source_file class='a.B%d' name='B.kt'/>\n",
			i)
	}), ""},
	{"a long class path", inLog(func(i int) string {
		if i == 0 {
			return "<properties>\njava.class.path="
		}
		return ":a"
	}), ""},
	{"methods at one address", inLog(func(i int) string { return method(i+1, "a.B::c", hostileCode, hostileCode+64) }),
		""},
	{"a name of a file's size", func(h *hostile) {
		h.samples(1000, 4)
		h.log(func(f *filler) {
			f.printf("Compiled method (c2) 1 1 4 ")
			f.repeat("a")
			f.printf("::b (13 bytes)\n main code [0x%x,0x%x] = 0\n", hostileCode, hostileCode+4096)
			f.printf("[MachCode]\n  0x%x: 9090 9090\n[/MachCode]\n", hostileCode)
		})
	}, "could not be read"},
	{"names of 60 kB", inLog(func(i int) string {
		return method(i+1, fmt.Sprintf("a%d%s::b", i, strings.Repeat("a", 60000)), hostileCode+uint64(i)*4,
			hostileCode+uint64(i)*4+4)
	}), ""},
	{"the JVM's arguments are a file's size", func(h *hostile) {
		h.samples(1000, 4)
		h.log(func(f *filler) {
			f.printf("<args>\n")
			f.repeat("-Dx=y ")
			f.printf("\n</args>\n")
		})
	}, ""},
	{"the command is a file's size", func(h *hostile) {
		h.samples(1000, 4)
		h.log(func(f *filler) {
			f.printf("<command>\n")
			f.repeat("x")
			f.printf("\n</command>\n")
		})
	}, ""},
	// HotSpot's log of events.
	{"pauses in each other", inEvents(func(i int) string {
		return fmt.Sprintf("[%dns][1][gc] GC(%d) Pause a%d (b) 1M->1M(1M) 9000.000ms\n", 10_000_000_000+i, i, i)
	}), ""},
	{"collections that never end", inEvents(func(i int) string { return fmt.Sprintf("[%dns][1][gc,start] GC(%d) Pause a%d (b)\n", i, i, i) }), ""},
	{"safepoints that overlap", inEvents(func(i int) string {
		return fmt.Sprintf("[%dns][1][safepoint] Safepoint \"a\", Reaching safepoint: 500000000 ns, Total: 999999999 ns\n",
			10_000_000_000+i*1000)
	}), ""},
	{"compilations", inEvents(func(i int) string {
		return fmt.Sprintf("[%dns][1][jit,compilation] %d 4 a%d::b\n", i, i,
			i)
	}), ""},
	{"a line of events of a file's size", inEvents(always("[1ns][1][gc] GC(0) Pause ")), ""},
	{"USDT: begins without ends", inUSDT(func(i int) string { return fmt.Sprintf("1.%09d %d hotspot:thread__park__begin 0x1 0 1\n", i, i) }), ""},
	{"USDT: calls in each other", inUSDT(always("1.000000000 1 hotspot_jni:FindClass__entry 0x1 0x2\n")), ""},
	{"USDT: allocations everywhere", inUSDT(func(i int) string {
		return fmt.Sprintf("1.%09d 0 allocated %#x %#x 0x0 \"[[[[[[[[[LA%d;\" %d %d\n", i, hostileCode+i*3, i, i, i+1,
			int64(1)<<62)
	}), ""},
	{"USDT: probes that there are not", inUSDT(func(i int) string {
		return fmt.Sprintf("1.%09d %d a%d:b\x1b[31m \"%s\"\n", i, i, i, strings.Repeat("x", 99))
	}), ""},
	{"USDT: a line of a file's size", inUSDT(always("1.000000000 1 hotspot:thread__start \"")), ""},
	{"USDT: no probes at all", inUSDT(always("x\n")), "lines of the USDT events could not be read"},
	{"no events at all", inEvents(always("x\n")), "lines of the events could not be read"},
	// Files with the counts of probes.
	{"probes: rings of a file's size", inProbes(func(f *filler) {
		f.fill(func(i int) string {
			return probeWords(1, 128+24*1024, int64(i), 4711, 1<<40, 1024) + strings.Repeat("\x01", 24*1024+80)
		})
	}), ""},
	{"probes: segments that are too large", inProbes(func(f *filler) { f.repeat(probeWords(1, 1<<40, 0, 0, 0, 0)) }),
		"is damaged after byte"},
	{"probes: pieces in each other", inProbes(func(f *filler) {
		f.repeat(probeWords(4, 1<<18, 0, 0, 0, 0) +
			strings.Repeat("\x00", 80))
	}), ""},
	{"probes: calls of methods", inProbes(func(f *filler) {
		f.fill(func(i int) string {
			return probeWords(2, 4864, int64(i), 1, 1<<62, 1<<62) + strings.Repeat("\x7f", 4864-48)
		})
	}), ""},
	{"probes: what an agent tells", func(h *hostile) {
		inProbes(func(*filler) {})(h)
		h.write("probes-4711.txt", func(f *filler) {
			f.fill(func(i int) string {
				return fmt.Sprintf("site\t%d\tmethod\ta.B\tc%s\t()V\t-\ta.B::*\nrefused\ta\tb%d\tc\x1b\nmissing\tx%d::y\tunseen\tz\nerror\te%d\n", 1+i%2048, strings.Repeat("\x1b", 40), i, i, i)
			})
		})
	}, ""},
	{"probes: a line of a file's size", func(h *hostile) {
		inProbes(func(*filler) {})(h)
		h.write("probes-4711.txt", func(f *filler) { f.repeat("site\t") })
	}, "could not all be read"},
	{"probes: windows of methods", func(h *hostile) {
		inProbes(func(*filler) {})(h)
		h.write("probes-4711.ring", func(f *filler) {
			f.printf("%s%s", probeWords(0x31626f72706d6767, 4711, 1, 4096, 0, 0, 0), strings.Repeat("\x00", 4096-56))
		})
		h.write("probes-4711.windows", func(f *filler) {
			f.fill(func(i int) string {
				return probeWords(10_000_000_000-int64(i), 8<<56|1<<32|4711, 10_000_000_000+int64(i))
			})
		})
		h.args = []string{"report", "--window-method", "a.B::c", h.dir}
	}, ""},
	{"probes: nothing", inProbes(func(f *filler) { f.repeat("\x00") }), ""},
	// Recordings of Flight Recorder.
	{"a foreign recording", inRecording(func(f *filler) { f.repeat("PK\x03\x04") }),
		"is not a recording of Java Flight Recorder"},
	{"an empty recording", inRecording(func(*filler) {}), "is empty"},
	{"a recording of magics", inRecording(func(f *filler) { f.repeat("FLR\x00\x00\x02") }),
		"the recording of JVM 4711 could not be read"},
	{"a cut recording", inRecording(func(f *filler) {
		f.printf("%s", openRecording()[:len(openRecording())/2])
		f.repeat("x")
	}), "the recording of JVM 4711 could not be read"},
	{"short events", inRecordedEvents(func(i int) []byte { return recordedEvent(i, 8, 9, "") }), ""},
	{"events with texts", inRecordedEvents(func(i int) []byte {
		return recordedEvent(i, 8, 9,
			strings.Repeat(fmt.Sprint(i), 100))
	}), ""},
	{"events of no thread and stack", inRecordedEvents(func(i int) []byte {
		return recordedEvent(i, i%100, i%100,
			fmt.Sprint(i))
	}), ""},
	{"a recording of another's", func(h *hostile) {
		inRecordedEvents(func(i int) []byte { return recordedEvent(i, 8, 9, "") })(h)
		h.args = []string{"report", "--jfr", h.file("ev-4711.jfr"), h.dir}
	}, ""},
	{"a recording of another's that is none", func(h *hostile) {
		inRecording(func(f *filler) { f.repeat("x") })(h)
		h.args = []string{"events", "--jfr", h.file("ev-4711.jfr"), h.dir}
	}, "is not a recording of Java Flight Recorder: it begins with"},
	{"a window of many events", func(h *hostile) {
		inRecordedEvents(func(i int) []byte { return recordedEvent(i, 8, 9, "") })(h)
		h.args = []string{"report", "--window-event", "jfr:test.Event", h.dir}
	}, ""},
	// Threads that take turns.
	{"writers", inLog(func(i int) string { return fmt.Sprintf("<writer thread='%d'/>\n", i) }), ""},
	{"two writers", inLog(func(i int) string { return fmt.Sprintf("<writer thread='%d'/>\n", i%2) }), ""},
	{"writers that each begin a method", inLog(func(i int) string {
		return fmt.Sprintf("<writer thread='%d'/>\n%s", i, method(i+1, "a.B::c", hostileCode+uint64(i)*4,
			hostileCode+uint64(i)*4+4))
	}), ""},
	{"methods that never end", func(h *hostile) {
		const writers = 5000
		h.samples(writers, 4)
		h.log(func(f *filler) {
			for i := range writers {
				lo := hostileCode + uint64(i)*4
				f.printf("<writer thread='%d'/>\n%s[MachCode]\n  0x%x: 9090 9090\n", i,
					method(i+1, fmt.Sprintf("a.B::c%d", i), lo, lo+4), lo)
			}
			f.fill(func(i int) string { return fmt.Sprintf("<writer thread='%d'/>\n  ; x\n", i%writers) })
		})
	}, ""},
	{"installed methods", inLog(func(i int) string {
		return fmt.Sprintf("<nmethod compile_id='%d' address='0x%x' size='8' insts_offset='1' method='A b ()V' stamp='1'/>\n",
			i, hostileCode+i*8)
	}), ""},
	{"installed methods, one id", inLog(always("<nmethod compile_id='7'\n")), ""},
	// The code of a method.
	{"a method of bytes", inCode(300, 1, "[MachCode]", func(i int) string {
		return bytesRow(hostileCode + 4 +
			uint64(i)*32)
	}), ""},
	{"a method of bytes, sampled all over", inCode(3000, 1<<14, "[MachCode]",
		func(i int) string { return bytesRow(hostileCode + 4 + uint64(i)*32) }), ""},
	{"rows of one byte", inCode(300, 1, "[MachCode]", func(i int) string {
		return fmt.Sprintf("  0x%x: 90\n",
			hostileCode+4+i*2)
	}), ""},
	{"rows of one byte, downwards", inCode(300, 1, "[MachCode]",
		func(i int) string { return fmt.Sprintf("  0x%x: 90\n", hostileCode+1<<24-i*2) }), ""},
	{"rows of one byte, with comments", inCode(300, 1, "[MachCode]", func(i int) string {
		addr := hostileCode + 4 + i*2
		return fmt.Sprintf("  0x%x: ; x\n  0x%x: 90\n", addr, addr)
	}), ""},
	{"one row", func(h *hostile) {
		h.samples(300, 1)
		h.log(func(f *filler) {
			f.printf("%s[MachCode]\n  0x%x: ", method(1, "a.B::c", hostileCode, hostileCode+1<<26), hostileCode)
			f.fill(always("9090 "))
			f.printf("\n[/MachCode]\n")
		})
	}, ""},
	{"instructions of text", inCode(300, 1, "[Disassembly]",
		func(i int) string { return fmt.Sprintf("  0x%x: nop\n", hostileCode+4+i) }), ""},
	{"instructions of text, long", inCode(300, 4, "[Disassembly]", func(i int) string {
		return fmt.Sprintf("  0x%x: nop %s\n", hostileCode+4+i, strings.Repeat("x", 100000))
	}), ""},
	{"inlining without end", inCode(300, 1, "[MachCode]\n  0x7f0000000000: ;*iload",
		func(i int) string { return fmt.Sprintf("    ; - a.B::m%d@1 (line 2)\n", i) }),
		`has more (bytes|instructions|comments|inlining)`},
	{"recursion without end", inCode(300, 1, "[MachCode]\n  0x7f0000000000: ;*iload", always("    ; - a::b@1\n")), ""},
	{"inlining without end, as text", inCode(300, 1, "[Disassembly]",
		func(i int) string { return fmt.Sprintf("    ; - a.B::m%d@1 (line 2)\n", i) }),
		`has more (bytes|instructions|comments|inlining)`},
	{"comments without end", inCode(300, 1, "[MachCode]\n  0x7f0000000000: ;*iload", always("    ; x\n")), ""},
	{"a comment of a file's size", func(h *hostile) {
		h.samples(300, 1)
		h.log(func(f *filler) {
			f.printf("%s[MachCode]\n  0x%x: ;", method(1, "a.B::c", hostileCode, hostileCode+4), hostileCode)
			f.repeat(" x")
			f.printf("\n  0x%x: 9090 9090\n[/MachCode]\n", hostileCode)
		})
	}, ""},
	{"sections without end", inCode(300, 1, "[MachCode]", always("[x]\n")),
		`has more (bytes|instructions|comments|inlining)`},
	{"comments up and down", inCode(300, 1, "[MachCode]", func(i int) string {
		row := ""
		if i < 1<<16 {
			row = bytesRow(hostileCode + 4 + uint64(i)*32)
		}
		return row + fmt.Sprintf("  0x%x: ; x\n  0x%x: ; x\n", hostileCode, hostileCode+1<<16)
	}), ""},
	// Samples.
	{"samples: one line", func(h *hostile) {
		h.good()
		h.write("samples.txt", func(f *filler) {
			f.printf("%s", sample(0, hostileCode))
			f.repeat("x")
			f.printf("\n%s", sample(1, hostileCode))
		})
	}, "line of the samples could not be read"},
	{"samples: a symbol of a file's size", func(h *hostile) {
		h.good()
		h.write("samples.txt", func(f *filler) {
			f.printf("java 4711/4711 1.0: cpu-clock: 1234 ")
			f.repeat("x")
			f.printf(" (/lib/a.so)\n")
		})
	}, ""},
	{"samples: short ones", inSamples(always("1/1 1.0: e: 1 (a)\n")), "of other processes"},
	{"samples: at all addresses", func(h *hostile) {
		h.log(func(f *filler) { f.printf("%s", method(1, "a.B::c", hostileCode, hostileCode+1<<26)) })
		h.write("samples.txt", func(f *filler) {
			f.fill(func(i int) string { return fmt.Sprintf("4711/1 %d.0: e: %x (//anon)\n", i, hostileCode+i%(1<<26)) })
		})
	}, ""},
	{"samples: at unknown addresses", inSamples(func(i int) string {
		return fmt.Sprintf("4711/1 1.0: e: %x (//anon)\n",
			hostileCode+i*16)
	}), ""},
	{"samples: threads", inSamples(func(i int) string { return fmt.Sprintf("t%d_ 4711/1 1.0: e: 1 (a)\n", i) }), ""},
	{"samples: threads in code", inSamples(func(i int) string {
		return fmt.Sprintf("t%d_ 4711/1 1.0: e: %x (//anon)\n", i,
			hostileCode+i%4)
	}), ""},
	{"samples: events", inSamples(func(i int) string { return fmt.Sprintf("4711/1 1.0: e%d: 1 (a)\n", i) }), "events"},
	{"samples: events of code", inSamples(func(i int) string {
		return fmt.Sprintf("4711/1 1.0: e%d: %x (//anon)\n", i,
			hostileCode)
	}), "events"},
	{"samples: functions", inSamples(func(i int) string { return fmt.Sprintf("4711/1 1.0: e: %x f%d (a)\n", i, i) }), ""},
	{"samples: modules", inSamples(func(i int) string { return fmt.Sprintf("4711/1 1.0: e: %x f (a%d)\n", i, i) }), ""},
	{"samples: mangled names", inSamples(func(i int) string {
		return fmt.Sprintf("4711/1 1.0: e: 1 _Z1fI%sE%dv (a)\n", strings.Repeat("S_IS", 2000), i)
	}), ""},
	{"samples: lost ones", inSamples(always("java 4711/1 1.0: PERF_RECORD_LOST lost 9223372036854775807\n")), ""},
	{"samples: bad lines", inSamples(always("x\n")), "holds no samples"},
	{"samples: zeros", inSamples(always("\x00")), ""},
	{"samples: xctrace's, values that differ", inXCTrace(func(i int) string {
		return fmt.Sprintf(`<row><sample-time id="%d">%d</sample-time><backtrace id="%d"><frame id="%d" name="f%d" addr="0x%x"><binary id="%d" name="a%d"/></frame></backtrace></row>`,
			4*i+1, i, 4*i+2, 4*i+3, i, hostileCode+i, 4*i+4, i)
	}), ""},
	{"samples: xctrace's, numbers alone", inXCTrace(func(i int) string { return fmt.Sprintf(`<pid id="%d"/>`, i) }),
		"took none"},
	{"samples: xctrace's, high numbers", inXCTrace(func(i int) string {
		return fmt.Sprintf(`<pid id="%d">1</pid>`,
			1<<60+i)
	}), "holds no samples"},
	{"samples: xctrace's, references to nothing",
		inXCTrace(func(i int) string { return fmt.Sprintf(`<row><thread ref="%d"/></row>`, i) }), "holds no samples"},
	{"samples: xctrace's, in each other", inXCTrace(always("<backtrace>")), "took none"},
	{"samples: xctrace's, threads", inXCTrace(func(i int) string {
		return fmt.Sprintf(`<row><sample-time>1</sample-time><thread fmt="t%d_ 0x1"><tid>%d</tid></thread><backtrace><frame addr="0x%x"/></backtrace></row>`, i, i, hostileCode)
	}), ""},
	{"samples: xctrace's, one tag", inXCTrace(always("<row ")), "holds no samples"},
	{"samples: xctrace's, one text", inXCTrace(always("7")), "took none"},
	{"samples: DTrace's", inSamples(func(i int) string {
		return fmt.Sprintf(" 1 1 :profile-1001 4711 0x%x 1%d a`f%d\n", i, i, i)
	}), ""},
	// capture.json.
	{"JVMs of one log", inDescription("jvms", func(i int) string {
		return fmt.Sprintf(`{"pid":%d,"log":"asm-4711.log"}`,
			i+1)
	}), `asm-4711\.log`},
	{"one JVM again and again", inDescription("jvms", always(`{"pid":4711,"log":"asm-4711.log"}`)), "JVM"},
	{"JVMs without logs", inDescription("jvms", func(i int) string {
		return fmt.Sprintf(`{"pid":%d,"log":"asm-%d.log"}`,
			i+5000, i+5000)
	}), "JVM"},
	{"JVMs of nothing", inDescription("jvms", always(`{}`)), "JVM"},
	{"trials", inDescription("trials", func(i int) string {
		return fmt.Sprintf(`{"name":"t%d","windows":[{"pid":4711}]}`,
			i)
	}), "trial"},
	{"trials that overlap", inDescription("trials", func(i int) string {
		return fmt.Sprintf(`{"name":"t%d","windows":[{"pid":4711,"from_mono_nanos":1,"to_mono_nanos":99999999999}]}`, i)
	}), "trial"},
	{"trials without names", inDescription("trials",
		func(i int) string { return fmt.Sprintf(`{"windows":[{"pid":%d,"to_mono_nanos":9}]}`, i+4711) }), "trial"},
	{"programs", programs, ""},
	{"trials of nothing", inDescription("trials", always(`{}`)), "trial"},
	{"windows", func(h *hostile) {
		h.good()
		h.samples(1000, 1)
		h.description(`trials":[{"windows`, func(i int) string {
			return fmt.Sprintf(`{"pid":4711,"from_mono_nanos":%d,"to_mono_nanos":%d}`, i*2, i*2+1)
		})
	}, ""},
	{"windows of many JVMs", func(h *hostile) {
		h.good()
		h.samples(1000, 1)
		h.description(`trials":[{"name":"x","windows`, func(i int) string {
			return fmt.Sprintf(`{"pid":%d,"from_mono_nanos":1,"to_mono_nanos":99999999999}`, i+4711)
		})
	}, ""},
	{"clocks", inDescription("clocks", always(`{}`)), ""},
	{"notes", inDescription("notes", func(i int) string { return fmt.Sprintf(`"n%d"`, i) }), ""},
	{"notes of nothing", inDescription("notes", always(`""`)), ""},
	{"events", inDescription("events", func(i int) string { return fmt.Sprintf(`"e%d"`, i) }), "events"},
	{"the command's words", inDescription("command", always(`"x"`)), ""},
	{"a deep description", inDescription("trials", always("[")), "not a capture's description"},
	// symbols.txt.
	{"symbols", inSymbols(func(i int) string { return fmt.Sprintf("4711 0x%x 0x%x m\n", i*2, i*2+1) }), ""},
	{"symbols that overlap", inSymbols(func(i int) string { return fmt.Sprintf("4711 0x%x 0x%x m f%d\n", i, 1<<40-i, i) }),
		""},
	{"symbols: one line", inSymbols(always("x")), "native symbols could not be read"},
	{"symbols of many processes", inSymbols(func(i int) string { return fmt.Sprintf("%d 0x1 0x2 m\n", i) }), ""},
	{"symbols: bad lines", inSymbols(always("x\n")), "native symbols could not be read"},
}

// programs writes a capture of many measured JVMs, each of which runs a different program.
func programs(h *hostile) {
	h.good()
	h.samples(1000, 1)
	h.write("capture.json", func(f *filler) {
		const perJVM = 140 // bytes
		n := f.left / perJVM
		f.printf(`{"schema":1,"command":["java"],"sampler":"perf","events":["cpu-clock"],"jvms":[{"pid":4711,"log":"asm-4711.log"}`)
		for i := range n {
			f.printf(`,{"pid":%d,"main":"p.M%d","log":"asm-%d.log"}`, 5000+i, i, 5000+i)
		}
		f.printf(`],"trials":[{"windows":[{"pid":4711,"to_mono_nanos":99999999999}`)
		for i := range n {
			f.printf(`,{"pid":%d,"to_mono_nanos":99999999999}`, 5000+i)
		}
		f.printf(`]}]}`)
	})
}

func inSymbols(line func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.good()
		h.samples(1000, 1)
		h.write("symbols.txt", func(f *filler) { f.fill(line) })
	}
}
