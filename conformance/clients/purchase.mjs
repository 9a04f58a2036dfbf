// The story that every client plays: a purchase with each of the sample module's six tools, and an error with data.

import { randomUUID } from "node:crypto";
import assert from "node:assert/strict";

const apiVersion = "2026-04-17";
const address = { name: "Ada Example", line_one: "1 Main Street", city: "Springfield", state: "CA", country: "US", postal_code: "94016" };
const meta = () => ({ api_version: apiVersion, idempotency_key: randomUUID() });

export const checkoutTools = [
  "cancel_checkout_session", "complete_checkout_session", "create_checkout_session", "get_checkout_session", "update_checkout_session",
];
export const paymentTools = ["delegate_payment"];

// purchase opens a checkout, pays for it and reads the order; a second checkout is canceled. checkout and payments
// call a tool and return its structured content.
export async function purchase(checkout, payments) {
  const open = (quantity) => checkout("create_checkout_session", {
    meta: meta(),
    payload: { line_items: [{ id: "item_mug", quantity }], currency: "usd", capabilities: { interventions: { supported: ["3ds"] } } },
  });
  let session = await open(2);
  session = await checkout("update_checkout_session", {
    meta: meta(), id: session.id,
    payload: { fulfillment_details: { name: address.name, email: "ada@example.com", address } },
  });
  const option = session.fulfillment_options[0];
  session = await checkout("update_checkout_session", {
    meta: meta(), id: session.id,
    payload: { selected_fulfillment_options: [{ type: option.type, option_id: option.id, item_ids: [session.line_items[0].id] }] },
  });
  assert.equal(session.status, "ready_for_payment", "after choosing delivery");
  const token = await payments("delegate_payment", { meta: meta(), payload: card(session) });
  const done = await checkout("complete_checkout_session", {
    meta: meta(), id: session.id,
    payload: { payment_data: { handler_id: session.capabilities.payment.handlers[0].id, instrument: { type: "card", credential: { type: "spt", token: token.id } } } },
  });
  assert.equal(done.status, "completed", "after paying");
  const again = await checkout("get_checkout_session", { meta: { api_version: apiVersion }, id: session.id });
  assert.equal(again.order.id, done.order.id, "the order");
  const other = await open(1);
  const canceled = await checkout("cancel_checkout_session", { meta: meta(), id: other.id });
  assert.equal(canceled.status, "canceled", "after canceling");
}

function card(session) {
  const total = session.totals.find((t) => t.type === "total").amount;
  return {
    payment_method: {
      type: "card", card_number_type: "fpan", number: "4242424242424242", exp_month: "11", exp_year: "2031", cvc: "223",
      display_card_funding_type: "credit", display_last4: "4242", metadata: {},
    },
    allowance: {
      reason: "one_time", max_amount: total, currency: "usd", checkout_session_id: session.id, merchant_id: "merchant_sample",
      expires_at: new Date(Date.now() + 600_000).toISOString(),
    },
    risk_signals: [{ type: "card_testing", score: 5, action: "authorized" }],
    metadata: {},
  };
}

// unknownSession is a call that fails, and what the merchant says of it.
export const unknownSession = {
  tool: "get_checkout_session",
  args: { meta: { api_version: apiVersion }, id: "no_such_session" },
  code: -32000,
  message: /no such checkout session/,
  type: "invalid_request",
};
