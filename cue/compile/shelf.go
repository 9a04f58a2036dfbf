package compile

import (
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A shelf is the resources and templates of an endpoint.
type shelf struct {
	resources map[string]shelved   // by URI
	templates map[string][]shelved // by the delimiters of their URIs
	count     int                  // of templates
}

// A shelved resource or template is where one of them is.
type shelved struct {
	binding *binding
	name    string
	pattern irv1.URIPattern // of a template
}

// checkShelves reports resources with one URI, and templates that can have one, at one
// endpoint.
func checkShelves(bindings []*binding, r report) {
	shelves := map[string]*shelf{}
	for _, b := range bindings {
		at := b.ir.GetEndpoint()
		if shelves[at] == nil {
			shelves[at] = &shelf{resources: map[string]shelved{}, templates: map[string][]shelved{}}
		}
		shelves[at].add(b, r)
	}
}

func (s *shelf) add(b *binding, r report) {
	for _, resource := range b.ir.GetResources() {
		uri := resource.GetUri()
		if other, taken := s.resources[uri]; taken && uri != "" {
			r.duplicateResource(b, other.binding, resource.GetName(), other.name, uri)
			continue
		}
		s.resources[uri] = shelved{binding: b, name: resource.GetName()}
	}
	for _, t := range b.ir.GetTemplates() {
		pattern, err := irv1.NewURIPattern(t.GetUri())
		if err != nil {
			continue // it has been reported
		}
		if s.count++; s.count > irv1.MaxTemplates {
			break
		}
		for _, other := range s.templates[pattern.Delimiters] {
			if pattern.Overlaps(other.pattern) {
				r.overlappingTemplates(b, other.binding, t.GetName(), other.name)
			}
		}
		s.templates[pattern.Delimiters] = append(s.templates[pattern.Delimiters], shelved{b, t.GetName(), pattern})
	}
	if len(s.resources) > irv1.MaxResources || s.count > irv1.MaxTemplates {
		r.tooManyResources(b, b.ir.GetEndpoint())
	}
}
