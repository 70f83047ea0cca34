package lexical

import "github.com/memsearch/memsearch/index/analysis"

// Params are the weights of the score of a document d for a query:
//
//	score(d) = sum over terms t of w(t) * count(t) * idf(t) * tf * (k1 + 1) / (k1 + tf)
//	tf       = sum over fields f of weight(f) * freq(t, f, d) / (1 - b(f) + b(f) * len(f, d) / avg(f))
//	idf(t)   = ln(1 + (N - df(t) + .5) / (df(t) + .5))
//	ideal    = 1e-6 + sum over terms t of w(t) * count(t) * idf(t) * (k1 + 1)
//
// df counts live documents that hold t in any field, N all of them, and avg(f)
// is over those in which the field has terms. Whole texts of units that are also
// indexed in pieces (chunk number key.Whole) are left out of df and N and have averages of
// their own; such a unit scores Mix times its whole text and 1 - Mix times its
// best piece. w is [analysis.Term.Weight]. A stop word counts Stop times that, and
// only in documents that hold another term, is in neither ideal nor mass, and is
// left out when it stands in a fifth of all documents; a query of nothing but
// stop words takes them for words. Optional terms that no document holds are left out of the ideal.
type Params struct {
	K1     float64
	B      [analysis.NumFields]float64
	HanB   float64 // b of every field for queries with characters of scripts without spaces
	Mix    float64
	Stop   float64
	Weight [analysis.NumFields]float64
}

// DefaultParams are the weights that were best on the development sets.
var DefaultParams = Params{
	K1:     1,
	B:      [analysis.NumFields]float64{.4, .4, .4, .4, .4, .4},
	HanB:   .75,
	Mix:    .5,
	Stop:   .1,
	Weight: [analysis.NumFields]float64{2, 1, 1, 1, 1, 1},
}

// maxStopShare is the share of documents from which on a stop word is left out.
const maxStopShare = .2

// MaxExact is the largest number of units an identifier may stand in to say
// that they are what the query asks for.
const MaxExact = 3
