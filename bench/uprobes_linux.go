package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"github.com/gasm-profiler/gasm/hotspot/usdt"
)

// countProbes makes the kernel run an eBPF program at the probes of a JVM. If counts is true, the program adds one to a
// counter; otherwise it does nothing. No recorder can cost less than this program. Whatever gasm's recorder costs
// beyond that is gasm's own cost. Calling stop removes the program from the probes.
func countProbes(pid int, library, pattern string, counts bool) (stop func(), err error) {
	file, err := os.Open(library)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all, err := usdt.Probes(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", library, err)
	}
	probes, _ := usdt.Select(all, []string{pattern})
	counter, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		return nil, err
	}
	code := asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}
	if counts {
		code = counting(counter.FD())
	}
	spec := ebpf.ProgramSpec{Name: "gasm_bench", Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceUprobeMulti,
		License: "Dual BSD/GPL", Instructions: code}
	program, err := ebpf.NewProgram(&spec)
	runtime.KeepAlive(counter)
	counter.Close() // the program keeps a reference to it
	if err != nil {
		return nil, err
	}
	defer program.Close() // the link keeps a reference to it
	o := link.UprobeMultiOptions{PID: uint32(pid)}
	for i := range probes {
		o.Addresses = append(o.Addresses, probes[i].Offset)
	}
	executable, err := link.OpenExecutable(library)
	if err != nil {
		return nil, err
	}
	set, err := executable.UprobeMulti(nil, program, &o)
	if err != nil {
		return nil, err
	}
	return func() { set.Close() }, nil
}

// counting returns an eBPF program that adds one to the only element of a per-CPU array. counter is the array's file
// descriptor.
func counting(counter int) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, -4, asm.R1, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, counter),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("end"),
		asm.Return(),
	}
}

// libjvmOf returns the path of a JVM's libjvm.so. It assumes that the JVM's executable is in the bin directory of a
// JDK.
func libjvmOf(pid int) (string, error) {
	found, err := filepath.EvalSymlinks(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(found), "../lib/server/libjvm.so"), nil
}
