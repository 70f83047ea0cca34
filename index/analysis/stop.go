package analysis

// isStop reports whether w, a folded word, means nothing in a question.
func isStop(w []byte) bool {
	if len(w) > 7 {
		return false
	}
	switch string(w) {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
		"no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they",
		"this", "to", "was", "will", "with":
		return true
	}
	return false
}
