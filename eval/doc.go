// Package eval measures retrieval against judged questions.
//
//	corpus + queries + qrels -> one in-memory index per conversation -> arms -> metrics, intervals, run files
//
// A corpus is a folder of Markdown files or a corpus.jsonl; what it may hold
// says [LoadCorpus]. Metrics are those of the field (recall, nDCG, MRR and hit
// at a cut), macro-averaged over questions; differences between arms come with
// paired bootstrap intervals. Questions of the category "adversarial" have
// their answer missing or swapped on purpose and are always reported apart.
//
// Limits: everything is held in memory; judgements are taken as complete.
package eval
