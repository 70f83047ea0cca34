package static

// HeaderLen is the length of a file's header.
const HeaderLen = headerLen

// Stem returns the stem of a lower-case ASCII word.
func Stem(word string) string { return string(stem(append(make([]byte, 0, len(word)+1), word...))) }

// BucketName returns the name of the hash bucket of x.
func (m *Model) BucketName(x string) string { return m.Token(m.bucket(fnv([]byte(x)))) }
