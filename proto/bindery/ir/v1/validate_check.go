package irv1

func (p *problems) checks(t *Tool) {
	names := map[string]bool{}
	for _, c := range t.GetChecks() {
		field := "checks." + c.GetName()
		p.check(c.GetName() != "" && !names[c.GetName()], field, "the check has no name of its own")
		p.check(c.GetMessage() != "", field+".message", "there is none")
		switch k := c.GetKind().(type) {
		case *CallCheck_Has:
			p.place(field+".has", k.Has)
		case *CallCheck_Subset:
			p.place(field+".subset.these", k.Subset.GetThese())
			p.place(field+".subset.of", k.Subset.GetOf())
		}
		if or := c.GetOr(); or != nil {
			p.place(field+".or.at", or.GetAt())
			p.scalar(field+".or.equals", or.GetEquals())
		}
		names[c.GetName()] = true
	}
}

func (p *problems) place(field string, place *Place) {
	p.check(place != nil, field, "there is no place")
}
