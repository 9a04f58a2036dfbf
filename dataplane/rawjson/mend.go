package rawjson

import "bytes"

// Mend returns data as parsers read it that forgive what [Parse] does not: without a byte
// order mark before it, which RFC 8259 (section 8.1) lets a reader pass over, and with
// U+FFFD for each escaped surrogate without its other half (section 8.2), as a service
// writes that has cut a text within a character. All other bytes stay as they are. data
// need not be JSON; where it needs no mending, that is data itself, and else a copy.
func Mend(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	mended := data
	for i := 0; ; {
		at := bytes.IndexByte(data[i:], '\\')
		if at < 0 {
			return mended
		}
		i += at
		n := max(escapeLen(data[i:]), 1)
		if _, isUnit := hex4(data[i:]); isUnit && n == 1 {
			if n = len(replacement); &mended[0] == &data[0] {
				mended = bytes.Clone(data)
			}
			copy(mended[i:], replacement)
		}
		i += n
	}
}

// replacement is U+FFFD, escaped: as long as what it stands for.
const replacement = `\ufffd`
