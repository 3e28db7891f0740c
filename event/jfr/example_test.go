package jfr_test

import (
	"fmt"
	"os"

	"github.com/gasm-profiler/gasm/event/jfr"
)

// This example prints the events of a recording: samples of allocations, and the start of a thread.
func ExampleReader() {
	f, err := os.Open("testdata/samples.jfr")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	r := jfr.NewReader(f, info.Size(), f.Name())
	for r.Scan() {
		e := r.Event()
		fmt.Printf("%s at tick %d in thread %s\n", e.Type().Name, e.StartTicks(), e.Thread().Name)
		if weight := e.Field("weight"); weight.Kind() != jfr.Null {
			fmt.Printf("\t%d bytes\n", weight.Int())
		}
	}
	if err := r.Err(); err != nil {
		panic(err)
	}
	fmt.Println("damaged chunks:", r.Damage().Chunks)
	// Output:
	// jdk.ObjectAllocationSample at tick 5000 in thread main
	// 	70 bytes
	// jdk.ObjectAllocationSample at tick 2000 in thread main
	// 	3000000000 bytes
	// jdk.ObjectAllocationSample at tick 3000 in thread worker
	// 	500 bytes
	// jdk.ThreadStart at tick 2500 in thread worker
	// jdk.ObjectAllocationSample at tick 3500 in thread request
	// 	40 bytes
	// jdk.ObjectAllocationSample at tick 6000 in thread worker
	// 	600 bytes
	// jdk.ObjectAllocationSample at tick 7000 in thread main
	// 	80 bytes
	// jdk.ObjectAllocationSample at tick 7500 in thread C2
	// 	9000 bytes
	// damaged chunks: 0
}
