// Package view draws gasm top: it turns a picture of package top and the state of the user interface into lines of text
// with styles. It does not use a terminal itself. Package top/terminal shows the lines on one, and [Text] writes them
// as text.
//
//	var s view.State
//	lines := s.Draw(picture, view.Look{Width: 80, Height: 24})
//	action := s.Key(view.Key{Name: "down"})
//
// All text that comes from the profiled programs is escaped when it becomes a [Span], so none of it can move the cursor
// or change colours. A line never has more columns than the screen.
package view
