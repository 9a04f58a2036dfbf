package psp

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/examples/internal/front"
)

// A card is the credential of a delegation. It is never stored, printed or
// answered.
type card struct {
	Type                   string            `json:"type"`
	CardNumberType         string            `json:"card_number_type"`
	Number                 string            `json:"number"`
	ExpMonth               string            `json:"exp_month"`
	ExpYear                string            `json:"exp_year"`
	Name                   string            `json:"name"`
	CVC                    string            `json:"cvc"`
	Cryptogram             string            `json:"cryptogram"`
	ECIValue               string            `json:"eci_value"`
	ChecksPerformed        []string          `json:"checks_performed"`
	IIN                    string            `json:"iin"`
	DisplayCardFundingType string            `json:"display_card_funding_type"`
	DisplayWalletType      string            `json:"display_wallet_type"`
	DisplayBrand           string            `json:"display_brand"`
	DisplayLast4           string            `json:"display_last4"`
	Metadata               map[string]string `json:"metadata"`
	Virtual                bool              `json:"virtual"`
}

// check says what is wrong with the card at the given time; nil: nothing.
func (c *card) check(now time.Time) *front.Answer {
	switch {
	case c.Type != "card":
		return badCard("type", "The only type there is is card.")
	case c.CardNumberType != "fpan" && c.CardNumberType != "network_token":
		return badCard("card_number_type", "The number is an fpan or a network_token.")
	case c.Number == "":
		return badCard("number", "The card number is required.")
	case len(c.Number) < 12 || len(c.Number) > 19 || !digits(c.Number) || !luhn(c.Number):
		return badCard("number", "The card number is not one.")
	case !slices.Contains([]string{"credit", "debit", "prepaid"}, c.DisplayCardFundingType):
		return badCard("display_card_funding_type", "The funding type is credit, debit or prepaid.")
	case c.Metadata == nil:
		return badCard("metadata", "The metadata is required.")
	case c.CVC != "" && (len(c.CVC) < 3 || len(c.CVC) > 4 || !digits(c.CVC)):
		return badCard("cvc", "The verification code is 3 or 4 digits.")
	case c.DisplayLast4 != "" && (len(c.DisplayLast4) != 4 || !digits(c.DisplayLast4)):
		return badCard("display_last4", "These must be 4 digits.")
	}
	return c.checkExpiry(now)
}

// checkExpiry lets a card through to the end of the month it names. A network
// token may come without one.
func (c *card) checkExpiry(now time.Time) *front.Answer {
	if c.ExpMonth == "" && c.ExpYear == "" && c.CardNumberType == "network_token" {
		return nil
	}
	month, err := strconv.Atoi(c.ExpMonth)
	if err != nil || len(c.ExpMonth) > 2 || month < 1 || month > 12 {
		return badCard("exp_month", "The month is 01 to 12.")
	}
	year, err := strconv.Atoi(c.ExpYear)
	if err != nil || len(c.ExpYear) != 4 {
		return badCard("exp_year", "The year has four digits.")
	}
	if end := time.Date(year, time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC); !end.After(now) {
		return badCard("exp_year", "The card has expired.")
	}
	return nil
}

// badCard is 422: the request was understood, the card is not good.
func badCard(member, message string) *front.Answer {
	return front.Fail(http.StatusUnprocessableEntity, front.Error{
		Code: "invalid_card", Message: message, Param: "$.payment_method." + member,
	})
}

func digits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// luhn reports whether the last digit of a number checks the others
// (ISO/IEC 7812-1, annex B).
func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// brand is the network that a number's first digits belong to; empty: another
// than these.
func brand(number string) string {
	prefix, err := strconv.Atoi(number[:4])
	switch {
	case err != nil:
		return ""
	case prefix/1000 == 4:
		return "visa"
	case prefix/100 >= 51 && prefix/100 <= 55, prefix >= 2221 && prefix <= 2720:
		return "mastercard"
	case prefix/100 == 34 || prefix/100 == 37:
		return "amex"
	case prefix == 6011 || prefix/100 == 65:
		return "discover"
	}
	return ""
}
