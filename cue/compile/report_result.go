package compile

import "strings"

func (r report) partsOfNoResult(v value) {
	r.list.Errorf(v.at("parts-of-no-result", `write result: "mcp"`), "only an MCP result has parts of content for other media types than JSON")
}

func (r report) contentOfNoResult(v value) {
	r.list.Errorf(v.atLabel("content-of-no-result", `remove it, or write another result`), "nothing is added to a raw result, not even content")
}

func (r report) emptyPart(v value) {
	r.list.Errorf(v.at("empty-part", `write text: {body: "/title"}, for example`), "a part is a text, an image, audio, a resource or a link")
}

func (r report) twoParts(v value, kinds []string) {
	r.list.Errorf(v.at("two-parts", "make a part of each"), "a part is one thing, not %s", strings.Join(kinds, " and "))
}

func (r report) bodyOfResource(v value) {
	r.list.Errorf(v.atLabel("body-of-resource", "keep or add one of them"), "a resource in a result has text or blob")
}

func (r report) metaOfNoResult(v value) {
	r.list.Errorf(v.at("meta-of-no-result", `remove it, or write another result`), "nothing is added to a raw result, not even _meta")
}

func (r report) shownUnkept(v value, why string) {
	r.list.Errorf(v.at("output-unkept", "remove it"), "clients hold structuredContent to a schema that is shown: %s", why)
}

func (r report) reservedMetaKey(v value, key string) {
	r.list.Errorf(v.atLabel("reserved-meta-key", "begin it with a domain of your own"), "the prefix of %q is not for a binding to use", key)
}

func (r report) secretHeader(v value, header string) {
	r.list.Errorf(v.at("secret-header", "remove it"), "header %s is not for callers: it is between the node and the upstream", header)
}

func (r report) signedElsewhere(v value, field string) {
	r.list.Errorf(v.atLabel("signed-elsewhere", "write meta: "+field+": false"),
		"the body is made of arguments, so what signs it, meta.%s, would sign other bytes", field)
}
