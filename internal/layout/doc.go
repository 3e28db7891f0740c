// Package layout puts text into lines and columns, for everything that gasm writes for people: a [Page] with rules,
// paragraphs and colours, tables without borders, and names that are shortened to fit. It escapes all text that comes
// from outside, so that none of it reaches a terminal raw, and measures widths after escaping.
package layout
