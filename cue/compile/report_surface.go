package compile

import (
	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func (r report) largeIcon(v value, n int) {
	r.list.Errorf(v.at("large-icon", "write the https URL of the picture, or take a smaller one"),
		"the picture has %d bytes in Base64, at most %d are shown to clients in every list", n, irv1.MaxIcon)
}

func (r report) oneIcon(v value) {
	r.list.Errorf(v.at("bad-icon", `keep or add one of them`), "an icon has src or file")
}

func (r report) noPicture(v value) {
	r.list.Errorf(v.at("bad-icon", `add mimeType: "image/..."`), "the name of %s does not say that it is a picture", v.quiet())
}

func (r report) tooManyIcons(v value, n int) {
	r.list.Errorf(v.at("too-many-icons", "keep those that differ in size or theme"), "there are %d icons, at most %d can be shown", n, irv1.MaxIcons)
}

func (r report) otherIconType(v value, media string) {
	r.list.Errorf(v.at("bad-icon", "remove it"), "%q is not what src says, %q", v.quiet(), media)
}

func (r report) scopesOfNoAuth(v value) {
	r.list.Errorf(v.atLabel("scopes-of-no-auth", `remove them, or write type: "oauth2"`), "who needs no token needs no scopes")
}

func (r report) schemeTwice(v value) {
	r.list.Errorf(v.at("scheme-twice", "remove it"), "this scheme is listed already")
}

func (r report) schemesInMeta(v value) {
	r.list.Errorf(v.atLabel("reserved-meta-key", "write securitySchemes beside _meta"), "this is written by the node")
}

// sharedConflict reports a field of b that another binding of its endpoint has, too,
// and otherwise.
func (r report) sharedConflict(b, other *binding, field string) {
	r.list.Errorf(b.source.below(field).atLabel("shared-conflict", "let one of the bindings say it, or both the same"),
		"binding %q, at %s too, says otherwise (%s)", other.name, b.ir.GetEndpoint(), diag.Place(other.source.below(field).where()))
}

func (r report) localeTwice(v value, tag string) {
	r.list.Errorf(v.at("locale-twice", "remove it"), "locale %q is listed already: upper and lower case mean the same", tag)
}

func (r report) strangeDefault(v value, supported []string) {
	r.list.Errorf(v.at("strange-default", "one of "+quoted(supported)), "the default is one of the locales that are supported")
}

func (r report) oneSource(v value) {
	r.list.Errorf(v.at("one-source", `write {requestMeta: "openai/userAgent"}, {header: "NAME"} or {locale: true}`), "a source is one of requestMeta, header and locale")
}

func (r report) atOfNothing(v value) {
	r.list.Errorf(v.atLabel("at-of-nothing", "remove it, or write requestMeta"), "only a member of _meta has places in it")
}

func (r report) secretInbound(v value, header string) {
	r.list.Errorf(v.at("secret-header", "remove it"), "header %s is between the caller and the node, and not for the upstream", header)
}

func (r report) nothingGives(v value) {
	r.list.Errorf(v.at("nothing-gives", "add from or generate, or remove argument: false"), "nothing gives the field a value")
}

func (r report) noLocales(b *binding, field, endpoint string) {
	r.list.Errorf(b.source.below("meta", field, "from").atLabel("no-locales", `write locales: {supported: ["en"], default: "en"} into the binding`),
		"no locale is negotiated at %s: its bindings have none", endpoint)
}

func (r report) hiddenMeta(v value) {
	r.list.Errorf(v.atLabel("hidden-meta", `write "_meta" in quotes`), `CUE hides fields that begin with "_", so nobody sees this`)
}
