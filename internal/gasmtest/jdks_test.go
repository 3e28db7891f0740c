package gasmtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSomeJDKs(t *testing.T) {
	for _, test := range []struct {
		all, want      []int
		defaultRelease int
	}{
		{[]int{8, 11, 17, 21, 25, 28}, []int{8, 17, 28}, 17},
		{[]int{8, 11, 17, 21, 25, 28}, []int{8, 28}, 28},
		{[]int{8, 11, 17, 21, 25, 28}, []int{8, 28}, 8},
		{[]int{8, 11, 21}, []int{8, 21}, 17},
		{[]int{8, 17}, []int{8, 17}, 17},
		{[]int{11}, []int{11}, 17},
		{nil, nil, 17},
	} {
		var all []JDK
		for _, release := range test.all {
			all = append(all, JDK{Feature: release})
		}
		var got []int
		for _, j := range someJDKs(all, test.defaultRelease) {
			got = append(got, j.Feature)
		}
		assert.Equal(t, test.want, got, "of %v with %d on the PATH", test.all, test.defaultRelease)
	}
}
