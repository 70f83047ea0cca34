package lexical

import "github.com/memsearch/memsearch/index/analysis"

// Params are the weights of the score of a document d for a query:
//
//	score(d) = sum over terms t of w(t) * count(t) * idf(t) * tf * (k1 + 1) / (k1 + tf)
//	tf       = sum over fields f of weight(f) * freq(t, f, d) * (prior + avg(f)) / (prior + len(f, d))
//	idf(t)   = ln(1 + (N - df(t) + .5) / (df(t) + .5))
//	ideal    = 1e-6 + sum over terms t of w(t) * count(t) * idf(t) * (k1 + 1)
//
// df counts live documents that hold t in any field, N all of them, and avg(f)
// is over those in which the field has terms. A unit of several chunks scores as
// its best one. w is [analysis.Term.Weight]. A stop word counts Stop times that,
// and only in documents that hold another term, is in neither ideal nor mass, and
// is left out when it stands in a fifth of all documents; a query of nothing but
// stop words takes them for words. Optional terms that no document holds are left
// out of the ideal.
//
// The prior says how many terms a text must have for its length to matter. It is
// BM25's b for fields of one average length, b = avg / (avg + prior), but what
// suits turns of 25 terms (b = .2) and abstracts of 200 (b = .7) alike.
type Params struct {
	K1       float64
	Prior    float64
	HanPrior float64 // for queries with characters of scripts without spaces
	Stop     float64
	Weight   [analysis.NumFields]float64
}

// DefaultParams are the weights that were best on the development sets. Against b
// = .4 (.75 for Chinese), the priors took nDCG@10 of locomo_dev turns from .525 to
// .534, of its observations from .623 to .629, of scifact_dev from .697 to .700
// and of memdaily_dev with noise from .715 to .733, and lowered none by .001.
// Priors of 60 to 150 and of 10 to 30 are as good within noise.
var DefaultParams = Params{
	K1:       1.1,
	Prior:    100,
	HanPrior: 20,
	Stop:     .1,
	Weight:   [analysis.NumFields]float64{3, 1, 1, 1, 1, 1},
}

// maxStopShare is the share of documents from which on a stop word is left out.
const maxStopShare = .2

// MaxExact is the largest number of units an identifier may stand in to say
// that they are what the query asks for.
const MaxExact = 3
