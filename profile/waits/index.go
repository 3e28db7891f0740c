package waits

// An index numbers texts, from 1.
type index struct {
	texts   []string
	numbers map[string]int32
}

func newIndex() index { return index{numbers: map[string]int32{}} }

// of returns the number of a text, which gets a new number if it has none.
func (x *index) of(text string) int32 {
	n, ok := x.numbers[text]
	if !ok {
		x.texts = append(x.texts, text)
		n = int32(len(x.texts))
		x.numbers[text] = n
	}
	return n
}

// text returns the text that has the number n, or "" for 0.
func (x *index) text(n int32) string {
	if n == 0 {
		return ""
	}
	return x.texts[n-1]
}
