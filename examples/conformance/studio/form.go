package studio

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// A form is a series of steps, each of questions by key. What a question is does not
// matter to the service: whoever fills the form in has to know.
type form struct {
	Steps []map[string]json.RawMessage `json:"steps"`
	Any   bool                         `json:"any"` // one answer of a step will do
}

//go:embed forms.json
var formsJSON []byte

// readForms returns the forms of the service by name.
func readForms() map[string]form {
	var forms map[string]form
	if err := json.Unmarshal(formsJSON, &forms); err != nil {
		panic(err) // a test reads them
	}
	return forms
}

// A sheet is a form as far as it is filled in. The service keeps none: whoever fills it
// in brings it back.
type sheet struct {
	Answers map[string]json.RawMessage `json:"answers"` // by question; each is an object
}

// A filling is what comes to a form.
type filling struct {
	sheet
	Sheet string            `json:"sheet"` // as the service gave it out; "" at the beginning
	Words map[string]string `json:"words"` // stand in questions where they have {NAME}
}

// fill takes answers, and the sheet so far; it asks for what is missing (428), or
// answers with what it was told.
func fill(forms map[string]form) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, ok := forms[r.PathValue("name")]
		if !ok {
			fail(w, http.StatusNotFound, "There is no such form.")
			return
		}
		var given filling
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&given); err != nil && err != io.EOF {
			fail(w, http.StatusBadRequest, "The body is no form.")
			return
		}
		s, err := openSheet(given.Sheet)
		if err != nil {
			fail(w, http.StatusBadRequest, "The sheet is none of this service.")
			return
		}
		for i, questions := range f.Steps {
			missing := s.take(questions, given.Answers)
			if len(missing) > 0 && (!f.Any || len(missing) == len(questions)) {
				say(w, http.StatusPreconditionRequired, map[string]any{"step": i + 1, "questions": worded(missing, given.Words), "sheet": s.String()})
				return
			}
		}
		file(w, "text/plain; charset=utf-8", append([]byte("You said: "), encoded(s.Answers)...))
	}
}

func openSheet(text string) (sheet, error) {
	s := sheet{Answers: map[string]json.RawMessage{}}
	if text == "" {
		return s, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

func (s sheet) String() string { return base64.RawURLEncoding.EncodeToString(encoded(s)) }

// take notes the answers to questions and returns the questions that have none; what
// is no object is no answer.
func (s sheet) take(questions, answers map[string]json.RawMessage) map[string]json.RawMessage {
	missing := map[string]json.RawMessage{}
	for key, question := range questions {
		if bytes.HasPrefix(answers[key], []byte("{")) {
			s.Answers[key] = answers[key]
		}
		if s.Answers[key] == nil {
			missing[key] = question
		}
	}
	return missing
}

// worded returns questions with the words that stand in them.
func worded(questions map[string]json.RawMessage, words map[string]string) json.RawMessage {
	text := string(encoded(questions))
	for name, word := range words {
		quoted := encoded(word)
		text = strings.ReplaceAll(text, "{"+name+"}", string(quoted[1:len(quoted)-1]))
	}
	return json.RawMessage(text)
}

// encoded returns v, which is made of what was decoded, as JSON.
func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
