package compile

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// widgetMeta are the keys of "_meta" that the members of a widget become.
var widgetMeta = []struct{ field, key string }{
	{"csp", "openai/widgetCSP"}, {"description", "openai/widgetDescription"}, {"domain", "openai/widgetDomain"}, {"prefersBorder", "openai/widgetPrefersBorder"},
}

// outputTemplate is the key of a tool's "_meta" that names the widget for its results.
const outputTemplate = "openai/outputTemplate"

// resourceMeta reads the "_meta" of the resource or template at v, with what its widget
// becomes there.
func (rd *reading) resourceMeta(v value) []*irv1.Member {
	all := rd.entryMeta(v)
	csp := v.get("_meta").get("openai/widgetCSP")
	rd.checkDomains(csp.get("connect_domains"))
	rd.checkDomains(csp.get("resource_domains"))
	widget := v.get("widget")
	if !widget.exists() {
		return all
	}
	widget.note()
	if m := v.get("mimeType"); m.quiet() != "" && !strings.HasPrefix(m.quiet(), "text/html") {
		rd.widgetType(m)
	}
	for _, w := range widgetMeta {
		f := widget.get(w.field)
		data := f.json()
		if !f.exists() || data == nil {
			continue
		}
		f.note()
		if w.field == "csp" {
			data = rd.csp(f)
		}
		if slices.ContainsFunc(all, func(m *irv1.Member) bool { return m.GetName() == w.key }) {
			rd.metaTwice(f, w.key)
		}
		all = append(all, &irv1.Member{Name: w.key, Json: data})
	}
	slices.SortFunc(all, func(a, b *irv1.Member) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

// csp returns what the csp of a widget becomes.
func (rd *reading) csp(v value) []byte {
	out := document.Obj()
	for _, list := range []struct{ field, name string }{{"connectDomains", "connect_domains"}, {"resourceDomains", "resource_domains"}} {
		domains := document.Arr()
		for _, s := range v.get(list.field).texts() {
			domains.Items = append(domains.Items, document.Str(s))
		}
		rd.checkDomains(v.get(list.field))
		out.Add(list.name, domains)
	}
	return out.AppendJSON(nil)
}

// checkDomains warns of wildcards in a list of what a page may reach.
func (rd *reading) checkDomains(v value) {
	for _, e := range v.elements() {
		if strings.Contains(e.quiet(), "*") {
			rd.wildcard(e, e.quiet())
		}
	}
}

// checkWidgets warns of tools whose results are to be shown by a resource that their
// endpoint does not have.
func checkWidgets(bindings []*binding, r report) {
	known := map[string][]string{} // URIs by endpoint
	for _, b := range bindings {
		for _, resource := range b.ir.GetResources() {
			known[b.ir.GetEndpoint()] = append(known[b.ir.GetEndpoint()], resource.GetUri())
		}
	}
	for _, b := range bindings {
		for _, t := range b.ir.GetTools() {
			uri, all := templateOf(t), known[b.ir.GetEndpoint()]
			if uri != "" && !slices.Contains(all, uri) {
				r.noWidget(b.source.below("tools", t.GetName(), "_meta", outputTemplate), uri, b.ir.GetEndpoint(), all)
			}
		}
	}
}

// templateOf returns the URI of the resource that shows results of t; "" for none.
func templateOf(t *irv1.Tool) string {
	for _, m := range t.GetEntryMeta() {
		var uri string
		if m.GetName() == outputTemplate && json.Unmarshal(m.GetJson(), &uri) == nil {
			return uri
		}
	}
	return ""
}
