// Package recall answers a query with the few memories that matter now, packed
// into a token budget.
//
//	query -> lexical, vector, temporal -> fuse -> filter -> confidence -> gate -> (rerank) -> pack -> result
//
// Every scope is searched in its own index with its own statistics; the lists
// of several scopes are fused by rank, and every hit names its scope. A
// retriever that fails costs its part of the answer, never the answer.
//
// Recall reads only. It takes the time from the query, so the same query on the
// same index gives the same bytes. A model is asked only when there is one, the
// query allows it, and the gate finds it worth it; then it judges more candidates
// than are returned. Whatever it does, the recall answers in time: with the fused
// order, and a reason. When it is not asked, the answer is the one that an engine
// without a model gives.
//
// Reading the source: recall.go has the interfaces and the engine, query.go and
// ignore.go what may be asked, search.go one scope, fuse.go every ranking
// constant, collect.go what leaves the list and why, confidence.go the
// probability, gate.go and rerank.go the model, selection.go the one that picks
// from the catalog without a search, pack.go the text an agent gets.
package recall
