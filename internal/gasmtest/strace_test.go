package gasmtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStraceCalls(t *testing.T) {
	assert.Equal(t, []string{
		"12 close(4) = 0",
		"11 openat(3</proc>, \"12\", O_RDONLY) = 4",
		"13 <... kill resumed>) = 0",
		"12 +++ exited with 0 +++",
		"14 futex(0x1,",
	}, StraceCalls(`11 openat(3</proc>, "12",  <unfinished ...>
12 close(4) = 0
11 <... openat resumed>O_RDONLY) = 4
13 <... kill resumed>) = 0
14 futex(0x1, <unfinished ...>
12 +++ exited with 0 +++
`))
}
