package librarytest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const findSchema = `{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":"integer"}}}`

// Prompting returns [Binding] with a hidden tool, find_books, and prompts: recommend
// has messages, discuss takes them from get_book, and search from find_books.
func Prompting(authority string) *irv1.Binding {
	b := Binding(authority)
	find := irv1.DigestOf([]byte(findSchema))
	b.Tools = append(b.Tools[:1], &irv1.Tool{
		Name: "find_books", Title: "Find books", Description: "Finds books.", Hidden: true,
		Method: irv1.Method_METHOD_GET, Path: []*irv1.PathPart{literal("/books")},
		Arguments: []*irv1.Argument{
			{Name: "limit", In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: irv1.ArgumentType_ARGUMENT_TYPE_INTEGER},
			{Name: "q", In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: irv1.ArgumentType_ARGUMENT_TYPE_STRING, Required: true},
		},
		InputSchema: find[:], Timeout: durationpb.New(10 * time.Second),
		Annotations: &irv1.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true}, Result: irv1.ResultMode_RESULT_MODE_MCP,
	}, b.Tools[1])
	b.Prompts = []*irv1.Prompt{
		{
			Name: "discuss", Title: "Discuss a book", Description: "Talks about a book.",
			Arguments: []*irv1.PromptArgument{{Name: "book", Description: "Its number.", Required: true}},
			Kind: &irv1.Prompt_Use{Use: &irv1.PromptUse{Use: &irv1.Use{
				Tool: "get_book", Arguments: []*irv1.UseArgument{{Name: "id", Value: &irv1.UseArgument_Text{Text: text("$book")}}},
			}}},
		},
		{
			Name: "recommend", Title: "Recommend a book", Description: "Recommends a book.",
			Arguments: []*irv1.PromptArgument{
				{Name: "author", Description: "Who wrote it."},
				{Name: "genre", Title: "Kind of book", Description: "What kind of book.", Required: true, Completion: &irv1.Completion{
					Kind: &irv1.Completion_Values{Values: &irv1.Values{Values: []string{"Novel", "Poetry", "novella"}}},
				}},
				{Name: "title", Description: "One that was liked.", Completion: &irv1.Completion{
					Kind: &irv1.Completion_Use{Use: &irv1.CompletionUse{
						Use: &irv1.Use{Tool: "find_books", Arguments: []*irv1.UseArgument{{Name: "q", Value: &irv1.UseArgument_Text{Text: text("$title")}}}},
						At:  &irv1.Place{Side: irv1.Side_SIDE_RESPONSE, Steps: []*irv1.Step{token("books"), {Kind: &irv1.Step_Every{Every: &irv1.Every{}}}, token("title")}},
					}},
				}},
			},
			Kind: &irv1.Prompt_Messages{Messages: &irv1.PromptMessages{Messages: []*irv1.PromptMessage{
				{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Text{Text: text("A ", "$genre", " by ", "$author", "!")}},
				{Role: irv1.Role_ROLE_ASSISTANT, Content: &irv1.PromptMessage_Text{Text: text("Like {this}?")}},
			}}},
		},
		{
			Name: "search", Description: "Searches.",
			Arguments: []*irv1.PromptArgument{{Name: "limit", Description: "How many."}, {Name: "q", Description: "What for.", Required: true}},
			Kind: &irv1.Prompt_Use{Use: &irv1.PromptUse{
				Use: &irv1.Use{Tool: "find_books", Arguments: []*irv1.UseArgument{
					{Name: "limit", Value: &irv1.UseArgument_Scalar{Scalar: "limit"}}, {Name: "q", Value: &irv1.UseArgument_Text{Text: text("$q")}},
				}},
				At: &irv1.Pointer{Tokens: []string{"messages"}},
			}},
		},
	}
	return b
}

// text returns a text of parts; one that begins with "$" is a variable.
func text(parts ...string) *irv1.Text {
	t := &irv1.Text{}
	for _, p := range parts {
		part := &irv1.TextPart{Kind: &irv1.TextPart_Literal{Literal: p}}
		if name, ok := strings.CutPrefix(p, "$"); ok {
			part.Kind = &irv1.TextPart_Variable{Variable: name}
		}
		t.Parts = append(t.Parts, part)
	}
	return t
}

func token(name string) *irv1.Step {
	return &irv1.Step{Kind: &irv1.Step_Token{Token: name}}
}

// find answers a search: with a book that has the title that is looked for, and a
// conversation about how many there may be. It fails for "trouble", and says nothing of
// use for "nonsense".
func find(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch q.Get("q") {
	case "trouble":
		answer(w, http.StatusForbidden, `{"code":"closed","message":"The catalogue is closed."}`)
	case "nonsense":
		answer(w, http.StatusOK, `{"messages":[{"role":"system","content":{"type":"text","text":"x"}}],"books":"none"}`)
	default:
		answer(w, http.StatusOK, fmt.Sprintf(`{"messages":[{"role":"assistant","content":{"type":"text","text":"At most %s."}}],"books":[{"title":%q},{"title":"Emma"}]}`,
			q.Get("limit"), q.Get("q")))
	}
}
