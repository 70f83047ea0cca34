package recall

import "regexp"

// asksToIgnore finds a wish to be answered without memory. It is conservative:
// the word for memory must end its clause, or be followed by words that say
// what the wish is about ("for this answer"), so that "ignore memory errors" and
// "不用记忆法" stay questions.
var asksToIgnore = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:ignore|forget|disregard|(?:do not|don['’]?t|never|stop) (?:use|using|consult|check|recall|read)|without (?:using |consulting )?|skip)\s*` +
		`(?:(?:all|any|every|your|my|our|the|saved|stored|long-term|past|previous|from)\s+)*memor(?:y|ies)` +
		`(?:\s*$|\s*[.,;:!?)\x{2014}\n]|\s+(?:for|in|during|on|when|while|this time|here|now|today|right now|please|and (?:answer|just|tell|reply|respond|start))\b)`),
	regexp.MustCompile(`(?:不要|不许|请勿|勿|别|不用|无需|忽略|无视|忘掉|忘记|抛开)(?:再|去|来)?(?:使用|参考|调用|查看|查询|读取|理会|管|用|看|查)?` +
		`(?:你|我|您|我们)?(?:的)?(?:任何|所有|全部|之前的|以前的|过去的|已有的)?(?:长期)?(?:记忆|記憶)(?:库|内容)?` +
		`(?:\s*$|\s*[。，,.:：;；!！?？、\n]|\s*(?:来|直接|再|就|回答|作答|这次|本次|吧|了))`),
}

// ignoresMemory reports whether text asks for an answer without memory.
func ignoresMemory(text string) bool {
	for _, re := range asksToIgnore {
		if re.MatchString(text) {
			return true
		}
	}
	return false
}
