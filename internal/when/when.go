// Package when reads dates.
//
//	text -> tokens -> dates -> spans, relative to a moment
//
// [Find] finds the dates of English and Chinese prose, [ParseStamp], [FileName]
// and [Heading] those of front matter, file names and headings, and [Words]
// writes a date out for an index of words.
//
// All of them take time linear in the text. A day is a civil day of one zone,
// from its first instant to that of the next, so that days are right where the
// clocks change.
package when
