package static

// HeaderLen is the length of a file's header.
const HeaderLen = headerLen

// BucketName returns the name of the hash bucket of x.
func (m *Model) BucketName(x string) string { return m.Token(m.bucket(fnv([]byte(x)))) }
