// Package replay measures what a memory does to the tasks of an agent.
//
//	task set -> a copy of the vault per run, with its edits -> arms -> answers -> checks -> records -> report
//
// A task set is a YAML or JSON Lines file beside the vaults it runs on; what it
// may hold says [Set]. [Load] refuses a set whose checks cannot fail: every check
// must reject at least one of the wrong answers that its task gives, and every
// wrong answer must be rejected.
//
// [Run] does every task in every [Arm] with a [Runner] and keeps one [Record] of
// each run, so that a replay that was stopped goes on where it was. [Analyse]
// compares the arms, and refuses when the answers leak into the one without
// memory. [Candidate] tries one memory before it is accepted.
//
// Limits: checks look at words, numbers and files, not at meaning; only a judge
// does, and a judge is a model. What each check cannot see stands at its type.
package replay
