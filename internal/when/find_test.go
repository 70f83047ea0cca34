package when_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/when"
)

// now is a Thursday. Its week began on Monday, 9 March.
var now = time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)

const (
	day     = memsearch.GranularityDay
	week    = memsearch.GranularityWeek
	month   = memsearch.GranularityMonth
	quarter = memsearch.GranularityQuarter
	year    = memsearch.GranularityYear
	span    = memsearch.GranularityRange
)

type date struct {
	Text, From, Until string
	Gran              memsearch.Granularity
}

func find(text string, now time.Time) []date {
	civil := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.DateOnly)
	}
	var dates []date
	for _, m := range when.Find(text, now) {
		dates = append(dates, date{m.Text, civil(m.Span.From), civil(m.Span.Until), m.Granularity})
	}
	return dates
}

// A phrase holds one date; it is found whole.
func TestFindPhrases(t *testing.T) {
	for in, want := range map[string]date{
		"12 March 2026":                 {"", "2026-03-12", "2026-03-13", day},
		"March 5th, 2026":               {"", "2026-03-05", "2026-03-06", day},
		"mar. 5 2026":                   {"", "2026-03-05", "2026-03-06", day},
		"2026-03-12":                    {"", "2026-03-12", "2026-03-13", day},
		"2026/3/12":                     {"", "2026-03-12", "2026-03-13", day},
		"12.03.2026":                    {"", "2026-03-12", "2026-03-13", day},
		"25/12/2025":                    {"", "2025-12-25", "2025-12-26", day},
		"12/25/2025":                    {"", "2025-12-25", "2025-12-26", day},
		"２０２６年３月１２日":                    {"", "2026-03-12", "2026-03-13", day},
		"2025-12-31T23:30:00-05:00":     {"", "2026-01-01", "2026-01-02", day},
		"Mar 2026":                      {"", "2026-03-01", "2026-04-01", month},
		"2026-02":                       {"", "2026-02-01", "2026-03-01", month},
		"the 5th of May":                {"", "2025-05-05", "2025-05-06", day},
		"the twenty-third of May, 2024": {"", "2024-05-23", "2024-05-24", day},
		"May 8th":                       {"", "2025-05-08", "2025-05-09", day},
		"March 12":                      {"", "2026-03-12", "2026-03-13", day},
		"29 February":                   {"", "2024-02-29", "2024-03-01", day},
		"Wednesday, 31 December":        {"", "2025-12-31", "2026-01-01", day},
		"November":                      {"", "2025-11-01", "2025-12-01", month},
		"early November":                {"", "2025-11-01", "2025-11-11", week},
		"mid-November 2024":             {"", "2024-11-11", "2024-11-21", week},
		"the end of February":           {"", "2026-02-21", "2026-03-01", week},
		"late 2023":                     {"", "2023-09-01", "2024-01-01", quarter},
		"the beginning of last year":    {"", "2025-01-01", "2025-05-01", quarter},
		"summer of 2023":                {"", "2023-06-01", "2023-09-01", quarter},
		"last summer":                   {"", "2025-06-01", "2025-09-01", quarter},
		"winter 2023":                   {"", "2023-12-01", "2024-03-01", quarter},
		"Q2 2025":                       {"", "2025-04-01", "2025-07-01", quarter},
		"2025 Q4":                       {"", "2025-10-01", "2026-01-01", quarter},
		"the third quarter of 2024":     {"", "2024-07-01", "2024-10-01", quarter},
		"last quarter":                  {"", "2025-10-01", "2026-01-01", quarter},

		"today":                           {"", "2026-03-12", "2026-03-13", day},
		"tonight":                         {"", "2026-03-12", "2026-03-13", day},
		"this morning":                    {"", "2026-03-12", "2026-03-13", day},
		"earlier in the afternoon":        {"", "2026-03-12", "2026-03-13", day},
		"Yesterday evening":               {"", "2026-03-11", "2026-03-12", day},
		"last night":                      {"", "2026-03-11", "2026-03-12", day},
		"the day before yesterday":        {"", "2026-03-10", "2026-03-11", day},
		"the day after tomorrow":          {"", "2026-03-14", "2026-03-15", day},
		"tomorrow":                        {"", "2026-03-13", "2026-03-14", day},
		"38 days ago":                     {"", "2026-02-02", "2026-02-03", day},
		"Three days ago":                  {"", "2026-03-09", "2026-03-10", day},
		"twenty-one days ago":             {"", "2026-02-19", "2026-02-20", day},
		"a couple of days ago":            {"", "2026-03-10", "2026-03-11", day},
		"11 hours ago":                    {"", "2026-03-11", "2026-03-12", day},
		"a week ago":                      {"", "2026-03-02", "2026-03-09", week},
		"two weeks ago":                   {"", "2026-02-23", "2026-03-02", week},
		"5 months ago":                    {"", "2025-10-01", "2025-11-01", month},
		"half a year ago":                 {"", "2025-09-01", "2025-10-01", month},
		"a year and a half ago":           {"", "2024-09-01", "2024-10-01", month},
		"two years ago":                   {"", "2024-01-01", "2025-01-01", year},
		"a few days ago":                  {"", "2026-03-06", "2026-03-11", span},
		"last week":                       {"", "2026-03-02", "2026-03-09", week},
		"this week":                       {"", "2026-03-09", "2026-03-16", week},
		"next week":                       {"", "2026-03-16", "2026-03-23", week},
		"last month":                      {"", "2026-02-01", "2026-03-01", month},
		"last year":                       {"", "2025-01-01", "2026-01-01", year},
		"last March":                      {"", "2025-03-01", "2025-04-01", month},
		"last February":                   {"", "2026-02-01", "2026-03-01", month},
		"last Friday":                     {"", "2026-03-06", "2026-03-07", day},
		"last Thursday":                   {"", "2026-03-05", "2026-03-06", day},
		"Monday":                          {"", "2026-03-09", "2026-03-10", day},
		"thursday":                        {"", "2026-03-05", "2026-03-06", day},
		"this Thursday":                   {"", "2026-03-12", "2026-03-13", day},
		"a week ago today":                {"", "2026-03-05", "2026-03-06", day},
		"two weeks ago today":             {"", "2026-02-26", "2026-02-27", day},
		"a month ago today":               {"", "2026-02-12", "2026-02-13", day},
		"a year ago today":                {"", "2025-03-12", "2025-03-13", day},
		"three days from now":             {"", "2026-03-15", "2026-03-16", day},
		"in three days":                   {"", "2026-03-15", "2026-03-16", day},
		"in a week":                       {"", "2026-03-16", "2026-03-23", week},
		"in two months":                   {"", "2026-05-01", "2026-06-01", month},
		"20260312":                        {"", "2026-03-12", "2026-03-13", day},
		"19991231":                        {"", "1999-12-31", "2000-01-01", day},
		"20260312T231500-05:00":           {"", "2026-03-13", "2026-03-14", day},
		"a fortnight ago":                 {"", "2026-02-23", "2026-03-02", week},
		"one week ago":                    {"", "2026-03-02", "2026-03-09", week},
		"next Monday":                     {"", "2026-03-16", "2026-03-17", day},
		"Friday of next week":             {"", "2026-03-20", "2026-03-21", day},
		"four months ago":                 {"", "2025-11-01", "2025-12-01", month},
		"ten years ago":                   {"", "2016-01-01", "2017-01-01", year},
		"the previous month":              {"", "2026-02-01", "2026-03-01", month},
		"the last two weekends":           {"", "2026-02-28", "2026-03-13", span},
		"a couple of weeks ago":           {"", "2026-02-23", "2026-03-02", week},
		"Tuesday of last week":            {"", "2026-03-03", "2026-03-04", day},
		"next Friday":                     {"", "2026-03-13", "2026-03-14", day},
		"this past weekend":               {"", "2026-03-07", "2026-03-09", week},
		"two weekends ago":                {"", "2026-02-28", "2026-03-02", week},
		"the last 3 days":                 {"", "2026-03-09", "2026-03-13", span},
		"the past two weeks":              {"", "2026-02-26", "2026-03-13", span},
		"this last week":                  {"", "2026-03-05", "2026-03-13", span},
		"the past month":                  {"", "2026-02-12", "2026-03-13", span},
		"the week before 9 June 2023":     {"", "2023-06-02", "2023-06-09", week},
		"two days after 27 February 2024": {"", "2024-02-29", "2024-03-01", day},
		"the Sunday before 25 May 2023":   {"", "2023-05-21", "2023-05-22", day},
		"the weekend before May 25, 2023": {"", "2023-05-20", "2023-05-22", week},
		"the week of 8 May 2024":          {"", "2024-05-06", "2024-05-13", week},

		"between May 8th and June 9th":           {"", "2025-05-08", "2025-06-10", span},
		"between November 28 and January 5":      {"", "2025-11-28", "2026-01-06", span},
		"between the 3rd and the 8th of May":     {"", "2025-05-03", "2025-05-09", span},
		"from March to May 2024":                 {"", "2024-03-01", "2024-06-01", span},
		"from November to February 2024":         {"", "2023-11-01", "2024-03-01", span},
		"March 3, 2024 through March 9, 2024":    {"", "2024-03-03", "2024-03-10", span},
		"May 8–10":                               {"", "2025-05-08", "2025-05-11", span},
		"May 8-10, 2023":                         {"", "2023-05-08", "2023-05-11", span},
		"8 to 10 May":                            {"", "2025-05-08", "2025-05-11", span},
		"2026-03-01 - 2026-03-05":                {"", "2026-03-01", "2026-03-06", span},
		"between 2019 and 2021":                  {"", "2019-01-01", "2022-01-01", span},
		"from last Monday to Wednesday":          {"", "2026-03-09", "2026-03-12", span},
		"since March 2025":                       {"", "2025-03-01", "", span},
		"since yesterday":                        {"", "2026-03-11", "", span},
		"before 2024":                            {"", "", "2024-01-01", span},
		"after May 8, 2024":                      {"", "2024-05-09", "", span},
		"until last Friday":                      {"", "", "2026-03-07", span},
		"between April 2, 2010, and May 3, 2011": {"", "2010-04-02", "2011-05-04", span},

		"2026年3月12日":      {"", "2026-03-12", "2026-03-13", day},
		"2026 年 3 月 12 日": {"", "2026-03-12", "2026-03-13", day},
		"三月十二日":           {"", "2026-03-12", "2026-03-13", day},
		"3月5号":            {"", "2026-03-05", "2026-03-06", day},
		"十二月廿三日":          {"", "2025-12-23", "2025-12-24", day},
		"二〇二三年五月":         {"", "2023-05-01", "2023-06-01", month},
		"二零二三年五月三十一日":     {"", "2023-05-31", "2023-06-01", day},
		"23年5月":           {"", "2023-05-01", "2023-06-01", month},
		"2022年":           {"", "2022-01-01", "2023-01-01", year},
		"1990年代":          {"", "1990-01-01", "2000-01-01", span},
		"5月":              {"", "2025-05-01", "2025-06-01", month},
		"5月底":             {"", "2025-05-21", "2025-06-01", week},
		"五月中旬":            {"", "2025-05-11", "2025-05-21", week},
		"2025年第二季度":       {"", "2025-04-01", "2025-07-01", quarter},
		"今天":              {"", "2026-03-12", "2026-03-13", day},
		"昨晚":              {"", "2026-03-11", "2026-03-12", day},
		"前天":              {"", "2026-03-10", "2026-03-11", day},
		"大前天":             {"", "2026-03-09", "2026-03-10", day},
		"明天":              {"", "2026-03-13", "2026-03-14", day},
		"大后天":             {"", "2026-03-15", "2026-03-16", day},
		"三天前":             {"", "2026-03-09", "2026-03-10", day},
		"38天前":            {"", "2026-02-02", "2026-02-03", day},
		"三十八天以前":          {"", "2026-02-02", "2026-02-03", day},
		"两个星期前":           {"", "2026-02-23", "2026-03-02", week},
		"5个月前":            {"", "2025-10-01", "2025-11-01", month},
		"半年前":             {"", "2025-09-01", "2025-10-01", month},
		"两年半前":            {"", "2023-09-01", "2023-10-01", month},
		"几天前":             {"", "2026-03-06", "2026-03-11", span},
		"前几天":             {"", "2026-03-06", "2026-03-12", span},
		"上周":              {"", "2026-03-02", "2026-03-09", week},
		"上周五":             {"", "2026-03-06", "2026-03-07", day},
		"上個星期五":           {"", "2026-03-06", "2026-03-07", day},
		"上上周日":            {"", "2026-03-01", "2026-03-02", day},
		"这周三":             {"", "2026-03-11", "2026-03-12", day},
		"本周":              {"", "2026-03-09", "2026-03-16", week},
		"下周一":             {"", "2026-03-16", "2026-03-17", day},
		"周一":              {"", "2026-03-09", "2026-03-10", day},
		"星期四":             {"", "2026-03-05", "2026-03-06", day},
		"上周末":             {"", "2026-03-07", "2026-03-09", week},
		"上个月":             {"", "2026-02-01", "2026-03-01", month},
		"上个月5号":           {"", "2026-02-05", "2026-02-06", day},
		"本月初":             {"", "2026-03-01", "2026-03-11", week},
		"去年":              {"", "2025-01-01", "2026-01-01", year},
		"前年":              {"", "2024-01-01", "2025-01-01", year},
		"去年三月":            {"", "2025-03-01", "2025-04-01", month},
		"去年三月十二号":         {"", "2025-03-12", "2025-03-13", day},
		"去年夏天":            {"", "2025-06-01", "2025-09-01", quarter},
		"今年":              {"", "2026-01-01", "2027-01-01", year},
		"过去三天":            {"", "2026-03-09", "2026-03-13", span},
		"最近一周":            {"", "2026-03-05", "2026-03-13", span},
		"最近两个月":           {"", "2026-01-12", "2026-03-13", span},
		"上季度":             {"", "2025-10-01", "2026-01-01", quarter},
		"年初":              {"", "2026-01-01", "2026-05-01", quarter},
		"年底":              {"", "2025-09-01", "2026-01-01", quarter},
		"月底":              {"", "2026-02-21", "2026-03-01", week},
		"一周前":             {"", "2026-03-02", "2026-03-09", week},
		"两周前":             {"", "2026-02-23", "2026-03-02", week},
		"三周前":             {"", "2026-02-16", "2026-02-23", week},
		"三個禮拜前":           {"", "2026-02-16", "2026-02-23", week},
		"一周前的今天":          {"", "2026-03-05", "2026-03-06", day},
		"一年前的今天":          {"", "2025-03-12", "2025-03-13", day},
		"三天后":             {"", "2026-03-15", "2026-03-16", day},
		"3天之后":            {"", "2026-03-15", "2026-03-16", day},
		"两周以后":            {"", "2026-03-23", "2026-03-30", week},
		"一个月后":            {"", "2026-04-01", "2026-05-01", month},
		"下周三":             {"", "2026-03-18", "2026-03-19", day},
		"下下周一":            {"", "2026-03-23", "2026-03-24", day},
		"下个月":             {"", "2026-04-01", "2026-05-01", month},
		"明年":              {"", "2027-01-01", "2028-01-01", year},
		"大后年":             {"", "2029-01-01", "2030-01-01", year},
		"大前年":             {"", "2023-01-01", "2024-01-01", year},
		"5号":              {"", "2026-03-05", "2026-03-06", day},
		"12号":             {"", "2026-03-12", "2026-03-13", day},
		"本周末":             {"", "2026-03-14", "2026-03-16", week},
		"二十三号":            {"", "2026-02-23", "2026-02-24", day},
		"5月8日到6月9日":       {"", "2025-05-08", "2025-06-10", span},
		"从5月8日至6月9日":      {"", "2025-05-08", "2025-06-10", span},
		"5月8日和6月9日之间":     {"", "2025-05-08", "2025-06-10", span},
		"3月到5月":           {"", "2026-03-01", "2026-06-01", span},
		"2024年3月到5月":      {"", "2024-03-01", "2024-06-01", span},
		"5月8日-10日":        {"", "2025-05-08", "2025-05-11", span},
		"5月8到10号":         {"", "2025-05-08", "2025-05-11", span},
		"2011至2012年":      {"", "2011-01-01", "2013-01-01", span},
		"去年三月以来":          {"", "2025-03-01", "", span},
		"2024年之前":         {"", "", "2024-01-01", span},
		"从2025年5月开始":      {"", "2025-05-01", "", span},
	} {
		want.Text = in
		for _, text := range []string{in, "(" + in + ")", strings.ToUpper(in) + "."} {
			if strings.HasPrefix(text, strings.ToUpper(in)) {
				want.Text = strings.ToUpper(in)
			}
			if diff := cmp.Diff([]date{want}, find(text, now)); diff != "" {
				t.Errorf("Find(%q) (-want +got):\n%s", text, diff)
			}
		}
	}
}

func TestFindInSentences(t *testing.T) {
	for in, want := range map[string][]date{
		"What did we cook on May 8th with the leeks?": {{"May 8th", "2025-05-08", "2025-05-09", day}},
		"who joined in May?":                          {{"May", "2025-05-01", "2025-06-01", month}},
		"the move happened in 2022, did it not":       {{"2022", "2022-01-01", "2023-01-01", year}},
		"during 2022 we sold it":                      {{"2022", "2022-01-01", "2023-01-01", year}},
		"我们三天前和昨天都聊过":                                 {{"三天前", "2026-03-09", "2026-03-10", day}, {"昨天", "2026-03-11", "2026-03-12", day}},
		"log of 2026-03-01, then 2026-03-02":          {{"2026-03-01", "2026-03-01", "2026-03-02", day}, {"2026-03-02", "2026-03-02", "2026-03-03", day}},
		"see posts/2024/03/12/leeks.md":               {{"2024/03/12", "2024-03-12", "2024-03-13", day}},
		"2026-03-12T10:15:00Z started":                {{"2026-03-12T10:15:00Z", "2026-03-12", "2026-03-13", day}},
		"What changed over this past week?":           {{"this past week", "2026-03-05", "2026-03-13", span}},
		"the trip last weekend before May 25, 2023":   {{"last weekend before May 25, 2023", "2023-05-20", "2023-05-22", week}},
		"在4月27号这天，我跑了多久":                              {{"4月27号", "2025-04-27", "2025-04-28", day}},
		"where were we on the 5th?":                   {{"the 5th", "2026-03-05", "2026-03-06", day}},
		"what is due by the 13th":                     {{"the 13th", "2026-02-13", "2026-02-14", day}},
		"what changed since the 1st":                  {{"since the 1st", "2026-03-01", "", span}},
		"what did I do over the weekend":              {{"the weekend", "2026-03-07", "2026-03-09", week}},
		"who called at the weekend?":                  {{"the weekend", "2026-03-07", "2026-03-09", week}},
		"周末我们去了哪里":                                    {{"周末", "2026-03-07", "2026-03-09", week}},
		"在20260312开的会":                                {{"20260312", "2026-03-12", "2026-03-13", day}},
		"notes (20260312), please":                    {{"20260312", "2026-03-12", "2026-03-13", day}},
		"what is planned in two weeks?":               {{"in two weeks", "2026-03-23", "2026-03-30", week}},
		"三天后有什么安排":                                    {{"三天后", "2026-03-15", "2026-03-16", day}},
		"一周前聊了什么":                                     {{"一周前", "2026-03-02", "2026-03-09", week}},
		"上周五下午三点开会":                                   {{"上周五", "2026-03-06", "2026-03-07", day}},
	} {
		if diff := cmp.Diff(want, find(in, now)); diff != "" {
			t.Errorf("Find(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestNoDates(t *testing.T) {
	for _, in := range []string{
		"v2.6.3", "version 2.6.3", "go 1.20.24", "release 2024.1.3.2", "k8s 1.30", "10:30", "3pm", "at 10:30:15", "192.168.2.24", "10.12.2026.1",
		"+49 2026 0312", "555-2026-03-12", "ISBN 978-3-16-148410-0", "DEC-0054", "CVE-2024-31497", "JAN-12", "issue #2026", "PR 2022",
		"you may keep it", "may I come in?", "it may 3 times fail", "that may second the motion", "they march 10 miles", "the march of progress",
		"wait a second", "the second attempt", "the sun is out", "he sat down", "mon ami", "wed them", "Sun Microsystems", "Jan said so", "June Carter sang", "talk to April",
		"2022", "2022 apples", "in 2000 patients", "in 2048 bits", "costs $2026", "3.5 million", "5%", "3f2a9c1d", "0x2026", "port 8080", "sha 20260312a",
		"2026-02-30", "2026-13-01", "31 June 2026", "February 30, 2025", "2月30日",
		"every Monday", "on Mondays", "each July", "the next day", "three days later", "the last day of school", "the next week",
		"月亮", "日本", "一日三餐", "一周三次", "周围", "周期", "圆周率", "本来", "上天", "第三天", "三个月大", "每周一", "每年5月", "农历五月初五", "前后", "以前", "目前", "先天和后天性",
		"order 20260312", "invoice no. 20260312", "ticket: 20260312", "#20260312", "id=20260312", "DEC-20260312", "20260312-7", "20260312.5", "a/20260312", "20261312", "18991231", "21010101", "202603121",
		"+20260312", "$20260312", "20260312号", "20260312_a", "订单号20260312",
		"on the 5th floor", "on the 3rd attempt", "the 5th", "on the 2nd-best", "the weekend trip", "on weekends", "in three days' time", "in two of three days",
		"快到周末了", "周末过来画画", "周末人太多了", "辛苦工作一天后", "建校两年后，他走了", "他走了，一年后结婚", "一年后结婚了", "32日以后", "in 5 year age bands",
		"周末喜欢做什么", "每个周末", "三天后面", "周末版",
		"5号楼", "2号线", "3个人", "一百二十块", "版本2.6.3", "13月", "星期", "年龄",
	} {
		if got := find(in, now); got != nil {
			t.Errorf("Find(%q) = %v, want no date", in, got)
		}
	}
}

// The day that a count of weeks leads to is told, and only that.
func TestExactDay(t *testing.T) {
	for in, want := range map[string]string{
		"a week ago": "2026-03-05", "two weeks ago": "2026-02-26", "three weeks ago": "2026-02-19", "two weeks from now": "2026-03-26", "in a week": "2026-03-19",
		"一周前": "2026-03-05", "两周前": "2026-02-26", "三周前": "2026-02-19", "兩個星期前": "2026-02-26", "两周后": "2026-03-26",
		"last week": "", "上周": "", "this week": "", "two days ago": "", "a month ago": "", "since two weeks ago": "", "两周前以来": "", "two weekends ago": "", "a week ago today": "",
	} {
		got := ""
		for _, m := range when.Find(in, now) {
			if !m.Exact.From.IsZero() {
				if got = m.Exact.From.Format(time.DateOnly); m.Exact.Until.Sub(m.Exact.From) != 24*time.Hour || m.Exact.From.Before(m.Span.From) || m.Exact.Until.After(m.Span.Until) {
					t.Errorf("%q: %v within %v", in, m.Exact, m.Span)
				}
			}
		}
		if got != want {
			t.Errorf("the exact day of %q is %q, want %q", in, got, want)
		}
	}
}

// The same words mean other days in another zone.
func TestFindInZone(t *testing.T) {
	late := time.Date(2026, 3, 12, 23, 30, 0, 0, time.UTC)
	shanghai := late.In(time.FixedZone("", 8*3600))
	if diff := cmp.Diff([]date{{"yesterday", "2026-03-12", "2026-03-13", day}}, find("yesterday", shanghai)); diff != "" {
		t.Errorf("in Shanghai (-want +got):\n%s", diff)
	}
	// The clocks of Berlin change on 29 March 2026: that day has 23 hours.
	berlin := time.Date(2026, 3, 30, 0, 30, 0, 0, zone(t, "Europe/Berlin"))
	m := when.Find("yesterday", berlin)
	if len(m) != 1 || m[0].Span.Until.Sub(m[0].Span.From) != 23*time.Hour {
		t.Errorf("the day before 30 March 2026 in Berlin: %v", m)
	}
}

// A date without a year may be tomorrow, which it already is further east.
func TestFindTomorrow(t *testing.T) {
	if diff := cmp.Diff([]date{{"March 13", "2026-03-13", "2026-03-14", day}}, find("March 13", now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]date{{"March 14", "2025-03-14", "2025-03-15", day}}, find("March 14", now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
