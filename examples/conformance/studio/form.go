package studio

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// forms are the questions of each form, by step: a step is done when all of its
// questions are answered.
var forms = map[string][][]string{
	"name":    {{"user_name"}},
	"capital": {{"capital_question"}},
	"roots":   {{"client_roots"}},
	"consent": {{"confirm"}},
	"all":     {{"user_name", "greeting", "client_roots"}},
	"either":  {{"user_name"}, {"greeting"}},
	"steps":   {{"step1"}, {"step2"}},
}

// A sheet is a form as far as it is filled in. The service keeps none: whoever fills
// it in brings it back.
type sheet struct {
	Answers map[string]json.RawMessage `json:"answers"` // by question; each is an object
}

// fill takes answers, and the sheet so far; it asks for what is missing (428), or
// answers with what it was told.
func fill(w http.ResponseWriter, r *http.Request) {
	steps, ok := forms[r.PathValue("name")]
	if !ok {
		fail(w, http.StatusNotFound, "There is no such form.")
		return
	}
	var given struct {
		sheet
		Sheet string `json:"sheet"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&given); err != nil {
		fail(w, http.StatusBadRequest, "The body is no form.")
		return
	}
	s, err := parseSheet(given.Sheet)
	if err != nil {
		fail(w, http.StatusBadRequest, "The sheet is none of this service.")
		return
	}
	for i, questions := range steps {
		s.take(questions, given.Answers)
		if missing := s.missing(questions); len(missing) > 0 {
			say(w, http.StatusPreconditionRequired, map[string]any{"step": i + 1, "missing": missing, "sheet": s.String()})
			return
		}
	}
	file(w, "text/plain; charset=utf-8", []byte("You said: "+s.said()))
}

func parseSheet(text string) (sheet, error) {
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

func (s sheet) String() string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // answers are JSON that was decoded
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// take notes the answers to questions; what is no object is no answer.
func (s sheet) take(questions []string, answers map[string]json.RawMessage) {
	for _, q := range questions {
		if a := answers[q]; strings.HasPrefix(string(a), "{") {
			s.Answers[q] = a
		}
	}
}

func (s sheet) missing(questions []string) []string {
	return slices.DeleteFunc(slices.Clone(questions), func(q string) bool { return s.Answers[q] != nil })
}

// said is all answers, in the order of their questions' names.
func (s sheet) said() string {
	data, err := json.Marshal(s.Answers)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(data)
}
