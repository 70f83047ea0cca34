// Package embed turns texts into vectors whose dot product is their cosine.
//
//	texts -> Embedder (-> Cache) -> unit vectors, one a text, in order
//
// An [Embedder] says who it is with a [Fingerprint]: vectors of different
// fingerprints must never be compared, and everything that stores vectors
// stores the fingerprint with them. The implementations are
//
//   - embed/static: the token table inside the binary; no network, microseconds
//     a text;
//   - embed/openai: any server that speaks the OpenAI embeddings protocol.
//
// # Optional abilities
//
// An embedder may be more than an Embedder: a [Weigher] weights query tokens by
// their rarity in the searched corpus, a [Chunker] cuts long texts, a
// [Quantised] allows int8 storage, a [Cheap] needs no cache. Ask for an ability
// with [As], not with a type assertion: As also looks through wrappers such as
// [Cached], which forward none of the abilities by themselves and answer to
// Unwrap instead.
//
//	if w, ok := embed.As[embed.Weigher](e); ok {
//		vector = w.EmbedQuery(text, df, n)
//	}
//
// # Cache
//
// A [Cache] is one SQLite file of vectors, keyed by fingerprint and text hash,
// so that a rename or a rebuild embeds nothing again. It holds no text. It is an
// optimisation and never the reason for a failure: a damaged file is moved aside
// and made anew, and a disk that is full or read-only turns the cache off with a
// warning. [Wrap] leaves an embedder alone that is [Cheap]: the built-in model
// embeds a short text in less time than a look-up takes. Only passages are
// cached: a search writes nothing. [Cache.Purge] is how a text is forgotten.
package embed
