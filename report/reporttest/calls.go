package reporttest

import (
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/callsites"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/decisions"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
)

// AddCalls adds to the first profile the compilers' decisions about the calls of Workload::dot: one call was refused,
// one is virtual, and nothing is known about the third. The first one is at the second line of the hottest region.
func AddCalls(ps *profile.Profiles) {
	p := &ps.Trials[0]
	var insts []printassembly.Instruction
	for i, relocation := range []string{"static_call", "virtual_call", "optimized virtual_call"} {
		insts = append(insts, printassembly.Instruction{Lo: uint64(0x100 + 5*i), Hi: uint64(0x105 + 5*i), Kind: disasm.Call,
			OwnFrames: true, Text: "call",
			Comments: []string{"*invokevirtual area {reexecute=0}", "{" + relocation + "}"},
			Frames: []printassembly.Frame{{Method: "p.Shapes::sum", BCI: i, Line: 40 + i},
				{Method: "Workload::dot", BCI: 9, Line: 20}}})
	}
	source := decisions.Source{Decided: []event.Inlined{{CompileID: 109, Caller: "p.Shapes::sum", BCI: 0,
		Callee: "p.Shape::area", Message: "hot method too big"}},
		Sizes: func(string) []int { return []int{412} }, Limits: decisions.Limits{"FreqInlineSize": 325},
		Notes: map[uint64]*jitprofile.Note{0x105: {Method: "p.Shapes::sum",
			ProfileSite: &printassembly.ProfileSite{BCI: 1, Line: 41, Bytecode: "invokevirtual",
				Types: []printassembly.ProfileType{{Class: "p.Circle", Count: 50}, {Class: "p.Square", Count: 30}}, Others: 20},
			Dispatched: true}}}
	piece := callsites.Piece{Source: "c2, level 4", Method: "Workload::dot", CompileID: 109, PID: p.PIDs[0],
		Code: decisions.Of(insts, &source)}
	for i, in := range insts {
		counts := make([]int64, len(p.Counters))
		counts[0] = int64(30 + i)
		piece.Lines = append(piece.Lines, code.Line{Instruction: in, Counts: counts})
	}
	b := callsites.NewBuilder(len(p.Counters))
	b.Add(&piece)
	p.Calls = b.Table()
	if len(p.Regions) > 0 && len(p.Regions[0].Lines) > 1 {
		p.Regions[0].Lines[1].Call = piece.Code.Calls[0]
	}
}
