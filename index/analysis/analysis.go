// Package analysis turns text into the terms that are indexed and searched: English,
// Chinese and other words, emoji, and identifiers kept whole, joined and in parts.
//
//	text -> fold (width, accents, case) -> words, runs, compounds -> terms
//
// Everything here is a pure function. No text is ever read as query syntax.
package analysis

// Version changes whenever the same text gives other terms: an index built with
// another version must be rebuilt.
const Version = 4

// A Field is a part of a unit that is indexed on its own.
type Field uint8

// The fields of a unit.
const (
	FieldTitle    Field = iota // summary, title and aliases
	FieldTags                  // tags
	FieldHeadings              // headings above the unit
	FieldBody                  // the text
	FieldPath                  // path below the vault
	FieldDate                  // the date written out in words
	NumFields     = iota
)

// A Kind says what sort of term a query term is.
type Kind uint8

// The kinds of query terms.
const (
	KindWord   Kind = iota // a word, stemmed when it is English, Russian or Greek
	KindStop               // an English word too frequent to mean anything
	KindHan                // one character of a script without spaces
	KindBigram             // two neighbouring characters of such a script
	KindPart               // a part of an identifier
	KindWhole              // an identifier, joined: DEC-0054 as dec0054
	KindHex                // a hexadecimal id of at least [MinHex] digits
	KindEmoji              // an emoji
)

// MinHex is how many digits a hexadecimal id must have to match by prefix.
const MinHex = 7

// MaxTerms is the largest number of distinct terms of a [Query].
const MaxTerms = 512

// A Query is the terms of a question, each once, in order of first appearance.
type Query struct {
	Terms []Term
}

// A Term is one distinct term of a [Query].
type Term struct {
	Text   string
	Count  int     // how often it stands in the query
	Weight float32 // 0-1: parts of long identifiers count less
	Kind   Kind

	// Optional terms are left out of the ideal score when no document has
	// them: most bigrams span a word boundary.
	Optional bool

	// Group, if not 0, says that the term is a whole identifier. Terms of one
	// group name the same one, the fullest name first.
	Group int
}
