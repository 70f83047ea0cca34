// Package memsearch defines the words that every other package shares: a
// [Memory] (one Markdown file), its [Unit]s (what is ranked and returned), the
// two times kept apart ([Validity] and [Occurred]), and the [Query], [Hit] and
// [Result] of a recall.
//
//	Markdown file -> Memory -> Units -> indexes -> Query -> Hits -> Result
//
// It imports nothing from this module and does no I/O. Packages meet here
// instead of importing one another. A program that wants to use memsearch
// imports package core.
package memsearch
