package rawjson

// Without returns v without the member of an object that the reference tokens of a
// JSON Pointer (RFC 6901) lead to. All other bytes stay as they are. Where there is no
// such member, because the tokens lead nowhere, to an element of an array, or are none,
// that is v itself.
func (v Value) Without(tokens []string) Value {
	if len(tokens) == 0 {
		return v
	}
	next := v.Lookup(tokens[:1])
	if next == nil {
		return v
	}
	if len(tokens) == 1 {
		return v.drop(tokens[0])
	}
	return v.Map(func(name, value Value) (Value, Value) {
		if &value[0] == &next[0] {
			value = value.Without(tokens[1:])
		}
		return name, value
	})
}

// With returns the object v with value as its member called name, in the place of one that
// it has, or else as the last. All other bytes stay as they are.
func (v Value) With(name string, value Value) Value {
	if v.Member(name) != nil {
		return v.Map(func(n, old Value) (Value, Value) {
			if n.Says(name) {
				old = value
			}
			return n, old
		})
	}
	out := append(make(Value, 0, len(v)+len(name)+len(value)+4), v[:len(v)-1]...)
	if v[v.skipSpace(1)] != '}' {
		out = append(out, ',')
	}
	out = append(AppendQuote(out, name), ':')
	return append(append(out, value...), '}')
}

// drop returns the object v without the member called name.
func (v Value) drop(name string) Value {
	if v.Kind() != Object {
		return v
	}
	first := true
	for i := v.skipSpace(1); v[i] != '}'; first = false {
		label := v.at(i)
		end := v.end(v.skipSpace(v.skipSpace(i+len(label)) + 1))
		next := v.skipComma(end)
		if label.Says(name) {
			if v[next] == '}' && !first {
				i, next = v.comma(i), end // there is none behind it
			}
			return append(append(make(Value, 0, len(v)), v[:i]...), v[next:]...)
		}
		i = next
	}
	return v
}

// comma returns where the comma before v[i] is, the beginning of a member that is not
// the first.
func (v Value) comma(i int) int {
	for i--; v[i] != ','; i-- { // only space is in between
	}
	return i
}
