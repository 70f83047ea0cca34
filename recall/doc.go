// Package recall answers a query with the few memories that matter now, packed
// into a token budget.
//
//	query -> lexical, vector, temporal -> fuse -> filter -> confidence -> pack -> result
//
// Every scope is searched in its own index with its own statistics; the lists
// of several scopes are fused by rank, and every hit names its scope. A
// retriever that fails costs its part of the answer, never the answer.
//
// Recall reads only. It takes the time from the query, so the same query on the
// same index gives the same bytes. Nothing here asks a model: the gate in the
// trace says whether one would have been worth asking.
//
// Reading the source: recall.go has the interfaces and the engine, query.go and
// ignore.go what may be asked, search.go one scope, fuse.go every ranking
// constant, collect.go what leaves the list and why, confidence.go the
// probability, pack.go and escape.go the text an agent gets.
package recall
