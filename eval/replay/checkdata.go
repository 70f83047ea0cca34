package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// jsonCheck compares one value of the first JSON object or array in the answer.
// Path is a JSON Pointer (RFC 6901); empty means the whole. Numbers are equal by
// value, lists in order, objects member by member. Text around the JSON is
// ignored; a second object is not looked at.
type jsonCheck struct {
	Path  string    `yaml:"path"`
	Value yaml.Node `yaml:"value"`

	want any
}

func (c *jsonCheck) prepare() error {
	if c.Value.IsZero() {
		return errors.New("value is missing")
	}
	if c.Path != "" && c.Path[0] != '/' {
		return fmt.Errorf("path %q is no JSON pointer: it must open with a slash", c.Path)
	}
	asJSON(&c.Value)
	var v any
	if err := c.Value.Decode(&v); err != nil {
		return err
	}
	raw, err := json.Marshal(v)
	if err == nil {
		c.want, err = decodeJSON(raw)
	}
	return err
}

// asJSON makes strings of what JSON has no other form for: dates, and whatever
// the keys of an object are.
func asJSON(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.ShortTag() != "!!merge" {
			child.Tag = "!!str"
		}
		asJSON(child)
	}
}

// A jsonNumber is a number in the one form that all its spellings share.
type jsonNumber string

// decodeJSON reads the first value of raw, with numbers as [jsonNumber].
func decodeJSON(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return plainNumbers(v), err
}

func plainNumbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		return plainNumber(x)
	case map[string]any:
		for k := range x {
			x[k] = plainNumbers(x[k])
		}
	case []any:
		for i := range x {
			x[i] = plainNumbers(x[i])
		}
	}
	return v
}

// plainNumber keeps whole numbers as they are, for a float64 would take ids that
// are close for one; 2.0 is the whole number 2.
func plainNumber(n json.Number) jsonNumber {
	if i, err := n.Int64(); err == nil {
		return jsonNumber(strconv.FormatInt(i, 10))
	}
	f, err := n.Float64()
	switch {
	case err != nil: // out of range
		return jsonNumber(n)
	case f == math.Trunc(f) && math.Abs(f) < 1<<63:
		return jsonNumber(strconv.FormatInt(int64(f), 10))
	}
	return jsonNumber(strconv.FormatFloat(f, 'g', -1, 64))
}

func (c *jsonCheck) Check(_ context.Context, o Outcome) (Verdict, error) {
	doc, ok := findJSON(o.Answer)
	if !ok {
		return fail("the answer holds no JSON"), nil
	}
	got, ok := pointer(doc, c.Path)
	switch {
	case !ok:
		return fail("the answer has nothing at %q", c.Path), nil
	case !reflect.DeepEqual(got, c.want):
		return fail("the answer has %s at %q", quote(fmt.Sprint(got)), c.Path), nil
	}
	return pass("the answer has %s at %q", quote(fmt.Sprint(got)), c.Path), nil
}

// maxStarts bounds how many braces of an answer are tried.
const maxStarts = 100

// findJSON returns the first object or array that stands in s as valid JSON.
func findJSON(s string) (any, bool) {
	for range maxStarts {
		i := strings.IndexAny(s, "{[")
		if i < 0 {
			return nil, false
		}
		s = s[i:]
		if v, err := decodeJSON([]byte(s)); err == nil {
			return v, true
		}
		s = s[1:]
	}
	return nil, false
}

// pointer follows a JSON pointer.
func pointer(v any, path string) (any, bool) {
	if path == "" {
		return v, true
	}
	for token := range strings.SplitSeq(path[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(x) || strconv.Itoa(i) != token {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// DefaultThreshold is the overlap that a set check wants unless it says.
const DefaultThreshold = 1.0

// setCheck reads the answer as a list and wants it to overlap with values: the
// share of what stands in both among what stands in either (Jaccard 1901) must
// reach the threshold. Items are parted by new lines or any of the separators,
// and compared in the form of exact; bullets, numbers of a list and an opening
// that ends in a colon are left out. An answer in a sentence is one item.
type setCheck struct {
	Values     []string `yaml:"values"`
	Threshold  *float64 `yaml:"threshold"`
	Separators []string `yaml:"separators"` // default: comma, semicolon, 、 and their full-width forms, "and", 和

	sep *regexp.Regexp
}

var (
	bullet  = regexp.MustCompile(`(?m)^[ \t]*(?:[-*+•]|[0-9]{1,3}[.)、]|[一二三四五六七八九十]{1,3}、)[ \t]*`)
	leadIn  = regexp.MustCompile(`^[^\n:：]*(?::\s|：|:$)\s*`)
	parting = regexp.MustCompile(`\n|[,;、，；]|(?i)\band\b|和`)
)

func (c *setCheck) prepare() error {
	if len(c.Values) == 0 {
		return errNothing
	}
	for i, v := range c.Values {
		if c.Values[i] = unquoted(v); c.Values[i] == "" {
			return errNothing
		}
	}
	slices.Sort(c.Values)
	c.Values = slices.Compact(c.Values)
	if c.Threshold == nil {
		c.Threshold = new(DefaultThreshold)
	}
	if !(*c.Threshold > 0 && *c.Threshold <= 1) {
		return errors.New("threshold must lie above 0 and not above 1")
	}
	c.sep = parting
	if len(c.Separators) > 0 {
		parts := []string{`\n`}
		for _, s := range c.Separators {
			if s == "" {
				return errNothing
			}
			parts = append(parts, regexp.QuoteMeta(s))
		}
		c.sep = regexp.MustCompile(strings.Join(parts, "|"))
	}
	return nil
}

func (c *setCheck) Check(_ context.Context, o Outcome) (Verdict, error) {
	items := c.items(o.Answer)
	both := 0
	for _, it := range items {
		if slices.Contains(c.Values, it) {
			both++
		}
	}
	share := float64(both) / float64(len(items)+len(c.Values)-both)
	if share < *c.Threshold && math.Abs(share-*c.Threshold) > 1e-9 {
		return fail("the overlap is %.2f, below %.2f", share, *c.Threshold), nil
	}
	return pass("the overlap is %.2f", share), nil
}

// items returns the distinct items of an answer.
func (c *setCheck) items(answer string) []string {
	answer = leadIn.ReplaceAllString(strings.TrimSpace(answer), "")
	answer = bullet.ReplaceAllString(answer, "")
	var out []string
	for _, it := range c.sep.Split(answer, -1) {
		if it = unquoted(it); it != "" && !slices.Contains(out, it) {
			out = append(out, it)
		}
	}
	return out
}
