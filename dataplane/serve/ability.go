package serve

import (
	"encoding/json"
	"slices"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// abilities are the capabilities that a client declares, as far as it can be asked for
// something.
type abilities []irv1.ClientCapability

// abilitiesOf returns what v, the capabilities of a client as MCP has them, declares.
// An elicitation that says nothing more is by forms.
func abilitiesOf(v rawjson.Value) abilities {
	var all abilities
	elicitation := v.Member("elicitation")
	if elicitation.Kind() == rawjson.Object {
		form, url := elicitation.Member("form") != nil, elicitation.Member("url") != nil
		if form || !url {
			all = append(all, irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION)
		}
		if url {
			all = append(all, irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION_URL)
		}
	}
	if v.Member("sampling").Kind() == rawjson.Object {
		all = append(all, irv1.ClientCapability_CLIENT_CAPABILITY_SAMPLING)
	}
	if v.Member("roots").Kind() == rawjson.Object {
		all = append(all, irv1.ClientCapability_CLIENT_CAPABILITY_ROOTS)
	}
	return all
}

// declared is abilitiesOf for capabilities that are decoded.
func declared(capabilities any) abilities {
	data, err := json.Marshal(capabilities)
	if err != nil {
		return nil
	}
	v, err := rawjson.Parse(data, call.MaxDepth)
	if err != nil || v.Kind() != rawjson.Object {
		return nil
	}
	return abilitiesOf(v)
}

// without returns a without c if not is true.
func (a abilities) without(not bool, c irv1.ClientCapability) abilities {
	if !not {
		return a
	}
	return slices.DeleteFunc(a, func(b irv1.ClientCapability) bool { return b == c })
}

// lacks returns those of needs that a has not.
func (a abilities) lacks(needs []irv1.ClientCapability) (missing []irv1.ClientCapability) {
	for _, c := range needs {
		if !slices.Contains(a, c) {
			missing = append(missing, c)
		}
	}
	return missing
}

// split returns the requests that a client with a can answer, and what it lacks for the
// others.
func (a abilities) split(requests []call.InputRequest) (possible []call.InputRequest, missing []irv1.ClientCapability) {
	for _, r := range requests {
		if slices.Contains(a, r.Needs) {
			possible = append(possible, r)
		} else {
			missing = append(missing, r.Needs)
		}
	}
	return possible, missing
}
