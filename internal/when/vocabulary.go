package when

// A kw is what a known word means: a class in the high byte, a value in the low.
type kw uint16

const (
	classNone     kw = iota << 8
	classMonth       // value: 1-12
	classWeekday     // value: 0-6 from Monday
	classNumber      // one, two, ... ninety
	classOrdinal     // first, second, ... thirty
	classUnit        // value: a unit
	classDay         // today and its neighbours; value: offset + 8
	classLast        // last, past, previous
	classThis        // this
	classNext        // next
	classSeason      // value: 1 spring ... 4 winter
	classPart        // early, mid, late; value: 1-3
	classEdge        // beginning, middle, end of; value: 1-3
	classDaytime     // morning, evening
	classIn          // words before a time: in, on, during
	classEvery       // every, each
	classSuffix      // st, nd, rd, th
	classRangeTo     // to, through, until
	classFunction    // a word that can follow a year but not count things
	classOther       // value: an other
)

func (k kw) class() kw  { return k &^ 0xff }
func (k kw) value() int { return int(k & 0xff) }

// short marks a month or weekday that is abbreviated, loose one that is also
// another word or a name.
const (
	short kw = 0x40
	loose kw = 0x80
	named kw = 0x3f
)

type unit int

const (
	unitHour unit = iota
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
	unitWeekend
	unitNight
)

// The values of classOther.
const (
	otherA kw = classOther + iota
	otherThe
	otherAgo
	otherOf
	otherAnd
	otherBetween
	otherFrom
	otherSince
	otherBefore
	otherAfter
	otherUntil
	otherEarlier
	otherNow
	otherCouple
	otherFew
	otherHalf
	otherOther
	otherOver
	otherQ
	otherH
	otherW
	otherT
	otherThese
	otherFortnight
)

// today is the value of today in classDay.
const today kw = 8

// longestWord bounds the words of the vocabulary, in bytes.
const longestWord = 12

// words is the vocabulary, in lower case.
var words = map[string]kw{
	"january": classMonth | 1, "february": classMonth | 2, "march": classMonth | 3 | loose, "april": classMonth | 4 | loose,
	"may": classMonth | 5 | loose, "june": classMonth | 6 | loose, "july": classMonth | 7, "august": classMonth | 8 | loose,
	"september": classMonth | 9, "october": classMonth | 10, "november": classMonth | 11, "december": classMonth | 12,
	"jan": classMonth | 1 | short | loose, "feb": classMonth | 2 | short, "mar": classMonth | 3 | short | loose, "apr": classMonth | 4 | short,
	"jun": classMonth | 6 | short, "jul": classMonth | 7 | short, "aug": classMonth | 8 | short, "sep": classMonth | 9 | short | loose,
	"sept": classMonth | 9 | short, "oct": classMonth | 10 | short | loose, "nov": classMonth | 11 | short, "dec": classMonth | 12 | short | loose,

	"monday": classWeekday, "tuesday": classWeekday | 1, "wednesday": classWeekday | 2, "thursday": classWeekday | 3,
	"friday": classWeekday | 4, "saturday": classWeekday | 5, "sunday": classWeekday | 6,
	"mon": classWeekday | short | loose, "tue": classWeekday | 1 | short, "tues": classWeekday | 1 | short,
	"wed": classWeekday | 2 | short | loose, "thu": classWeekday | 3 | short, "thur": classWeekday | 3 | short, "thurs": classWeekday | 3 | short,
	"fri": classWeekday | 4 | short, "sat": classWeekday | 5 | short | loose, "sun": classWeekday | 6 | short | loose,

	"one": classNumber | 1, "two": classNumber | 2, "three": classNumber | 3, "four": classNumber | 4, "five": classNumber | 5,
	"six": classNumber | 6, "seven": classNumber | 7, "eight": classNumber | 8, "nine": classNumber | 9, "ten": classNumber | 10,
	"eleven": classNumber | 11, "twelve": classNumber | 12, "thirteen": classNumber | 13, "fourteen": classNumber | 14,
	"fifteen": classNumber | 15, "sixteen": classNumber | 16, "seventeen": classNumber | 17, "eighteen": classNumber | 18,
	"nineteen": classNumber | 19, "twenty": classNumber | 20, "thirty": classNumber | 30, "forty": classNumber | 40,
	"fifty": classNumber | 50, "sixty": classNumber | 60, "seventy": classNumber | 70, "eighty": classNumber | 80, "ninety": classNumber | 90,

	"first": classOrdinal | 1, "second": classOrdinal | 2, "third": classOrdinal | 3, "fourth": classOrdinal | 4, "fifth": classOrdinal | 5,
	"sixth": classOrdinal | 6, "seventh": classOrdinal | 7, "eighth": classOrdinal | 8, "ninth": classOrdinal | 9, "tenth": classOrdinal | 10,
	"eleventh": classOrdinal | 11, "twelfth": classOrdinal | 12, "thirteenth": classOrdinal | 13, "fourteenth": classOrdinal | 14,
	"fifteenth": classOrdinal | 15, "sixteenth": classOrdinal | 16, "seventeenth": classOrdinal | 17, "eighteenth": classOrdinal | 18,
	"nineteenth": classOrdinal | 19, "twentieth": classOrdinal | 20, "thirtieth": classOrdinal | 30,
	"st": classSuffix | 1, "nd": classSuffix | 2, "rd": classSuffix | 3, "th": classSuffix | 4,

	"hour": classUnit | kw(unitHour), "hours": classUnit | kw(unitHour), "day": classUnit | kw(unitDay), "days": classUnit | kw(unitDay),
	"week": classUnit | kw(unitWeek), "weeks": classUnit | kw(unitWeek), "month": classUnit | kw(unitMonth), "months": classUnit | kw(unitMonth),
	"quarter": classUnit | kw(unitQuarter), "quarters": classUnit | kw(unitQuarter), "year": classUnit | kw(unitYear), "years": classUnit | kw(unitYear),
	"weekend": classUnit | kw(unitWeekend), "weekends": classUnit | kw(unitWeekend), "night": classUnit | kw(unitNight),

	"today": classDay | 8, "tonight": classDay | 8, "yesterday": classDay | 7, "tomorrow": classDay | 9,
	"last": classLast | 1, "past": classLast | 2, "previous": classLast | 3,
	"this": classThis, "next": classNext, "these": otherThese, "fortnight": otherFortnight, "fortnights": otherFortnight,
	"spring": classSeason | 1, "summer": classSeason | 2, "autumn": classSeason | 3, "fall": classSeason | 3, "winter": classSeason | 4,
	"early": classPart | 1, "mid": classPart | 2, "late": classPart | 3,
	"beginning": classEdge | 1, "start": classEdge | 1, "middle": classEdge | 2, "end": classEdge | 3,
	"morning": classDaytime, "afternoon": classDaytime, "evening": classDaytime, "noon": classDaytime,

	"in": classIn | 1, "on": classIn | 2, "during": classIn | 1, "by": classIn | 1, "throughout": classIn | 1, "within": classIn | 1,
	"around": classIn | 1, "circa": classIn | 1,
	"every": classEvery, "each": classEvery,
	"to": classRangeTo, "through": classRangeTo, "thru": classRangeTo, "until": otherUntil, "till": otherUntil,
	"a": otherA, "an": otherA, "the": otherThe, "ago": otherAgo, "of": otherOf, "and": otherAnd, "between": otherBetween,
	"from": otherFrom, "since": otherSince, "before": otherBefore, "after": otherAfter, "earlier": otherEarlier, "later": otherEarlier,
	"now": otherNow, "couple": otherCouple, "few": otherFew, "several": otherFew, "half": otherHalf, "other": otherOther, "over": otherOver,
	"q": otherQ, "h": otherH, "w": otherW, "t": otherT,

	"i": classFunction, "we": classFunction, "you": classFunction, "he": classFunction, "she": classFunction, "it": classFunction,
	"they": classFunction, "my": classFunction, "our": classFunction, "his": classFunction, "her": classFunction, "their": classFunction,
	"its": classFunction, "as": classFunction, "at": classFunction, "for": classFunction, "with": classFunction, "when": classFunction, "which": classFunction,
	"where": classFunction, "that": classFunction, "who": classFunction, "what": classFunction, "how": classFunction, "because": classFunction,
	"is": classFunction, "was": classFunction, "has": classFunction, "does": classFunction, "or": classFunction, "but": classFunction,
}
