// Package static turns short English and Chinese texts into vectors with a token
// table that is part of the binary: no model runtime, no network, no state.
//
//	text -> tokens -> table rows -> weighted sum -> unit vector
//
// A text is cut into tokens (Porter stems for words; characters plus dictionary
// words for CJK runs; hashed 4-grams for unknown words), the rows of its tokens
// are added, and the sum is scaled to length 1. The cosine of two texts is then
// the dot product of their vectors.
//
// [Shared] loads the built-in table the first time it is called; a process that
// never asks pays nothing. The file needs no parsing: [Load] checks the header,
// copies the small sections and builds a hash index of the tokens, and reads the
// rows where they lie. A [Model] is never changed after Load and may be used
// from any number of goroutines.
//
// Passages are embedded with [Model.Vector], queries with [Model.EmbedQuery],
// which multiplies every token by its inverse document frequency in the searched
// corpus. That weighting matters more than anything else: without it the frequent
// words of a question drown its content. Passage vectors do not depend on the
// corpus, so nothing is embedded again when the corpus changes.
//
// Rows are added in integers, so a vector depends only on the multiset of its
// tokens, and is the same, bit for bit, on every platform. There is no assembly:
// ten thousand notes take about a tenth of a second on one core, a few percent
// of what indexing them costs.
//
// MODEL_CARD.md says what the table is good for and how it was measured,
// FORMAT.md describes the file, train/README.md how it was made. The table is
// CC BY-SA 4.0; NOTICE has the attributions, which must travel with the file.
package static
