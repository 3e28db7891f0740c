package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecorderCost(t *testing.T) {
	c, err := recorderCostOf(`main;start_thread;Jfr::on_create_vm_3;jdk.jfr.Recording::<init>;Jfr::create 20
C2 CompilerThread;Compile::Compile;CompilerEvent::InlineEvent::post;JfrBuffer::move 4
C2 CompilerThread;Compile::Compile 60
JFR Recorder Thread;start_thread;write 5
main;Compile::main;JfrAllocationTracer::JfrAllocationTracer 1
JFR Shutdown Hook;java.lang.Thread::run 3
Attach Listener;jdk.jfr.internal.dcmd.DCmdStart::execute 7
main;Compile::main 30
`, 10)
	require.NoError(t, err)
	assert.InDeltaMapValues(t, map[string]float64{"all": 10, "start": 2.7, "end": 0.3, "posting": 0.4, "writing": 0.6},
		map[string]float64{"all": c.all, "start": c.start, "end": c.end, "posting": c.posting, "writing": c.writing}, 1e-9)
	_, err = recorderCostOf("main;Compile::main\n", 10)
	assert.ErrorContains(t, err, "has no number of samples")
}
