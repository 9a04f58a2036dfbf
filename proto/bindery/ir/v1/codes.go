package irv1

// A Kind is what a caller can ask for. The zero Kind is a tool.
type Kind int

// The kinds.
const (
	KindTool Kind = iota
	KindResource
	KindPrompt
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{KindTool, KindResource, KindPrompt} }

// String returns the author's word for the kind.
func (k Kind) String() string { return [...]string{"tool", "resource", "prompt"}[k] }

// Codes returns those for what is of a kind; nil for the defaults.
func (e *Errors) Codes(k Kind) *Codes {
	return [...]*Codes{e.GetToolCodes(), e.GetResourceCodes(), e.GetPromptCodes()}[k]
}

// endpointCodes adds the codes of b for what there is not to those of its endpoint:
// kind -> code, by endpoint.
func (p *problems) endpointCodes(endpoints map[string]map[Kind]int32, b *Binding) {
	all := endpoints[b.GetEndpoint()]
	if all == nil {
		all = map[Kind]int32{}
		endpoints[b.GetEndpoint()] = all
	}
	for _, k := range Kinds() {
		if code := b.GetErrors().Codes(k).GetNotFound(); code != 0 {
			p.check(all[k] == 0 || all[k] == code, "errors.codes."+k.String()+".notFound", "endpoint %s has another code for this already", b.GetEndpoint())
			all[k] = code
		}
	}
}
