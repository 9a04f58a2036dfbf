// Buys something twice with the MCP Inspector's command line, once in each protocol era, from the sample module that
// `bindery demo` serves: every tool of the example is listed, called and checked, an error with data included.
//
// usage: node run.mjs BINDERY INSPECTOR   (the bindery binary; the folder with the Inspector's node_modules)

import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import assert from "node:assert/strict";

const [bindery, inspectorDir] = process.argv.slice(2);
if (!inspectorDir) {
  console.error("usage: node run.mjs BINDERY INSPECTOR_DIR");
  process.exit(2);
}
const inspector = join(inspectorDir, "node_modules", ".bin", "mcp-inspector");
const apiVersion = "2026-04-17";

// inspect runs the Inspector once and returns its JSON: {result} or {error}.
async function inspect(url, era, ...args) {
  const argv = ["--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "--quiet", ...args];
  try {
    const { stdout } = await promisify(execFile)(inspector, argv, { timeout: 60_000, maxBuffer: 32 << 20 });
    return { out: JSON.parse(stdout) };
  } catch (err) {
    return { failed: `${err.stdout ?? ""}${err.stderr ?? err}` };
  }
}

async function call(url, era, tool, args) {
  const { out, failed } = await inspect(url, era, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args));
  assert.equal(failed, undefined, `${tool} (${era}): ${failed}`);
  const body = out.result?.structuredContent ?? out.structuredContent;
  assert.ok(body, `${tool} (${era}): no structuredContent in ${JSON.stringify(out).slice(0, 500)}`);
  console.log(`  ${era.padEnd(6)} ${tool}: ${body.status ?? "created " + Object.keys(body).join(", ")}`);
  return body;
}

async function list(url, era, want) {
  const { out, failed } = await inspect(url, era, "--method", "tools/list");
  assert.equal(failed, undefined, `tools/list (${era}): ${failed}`);
  const names = (out.result?.tools ?? out.tools).map((t) => t.name).sort();
  assert.deepEqual(names, want, `tools/list (${era})`);
  console.log(`  ${era.padEnd(6)} tools/list: ${names.join(", ")}`);
}

const meta = () => ({ api_version: apiVersion, idempotency_key: randomUUID() });
const address = { name: "Ada Example", line_one: "1 Main Street", city: "Springfield", state: "CA", country: "US", postal_code: "94016" };

async function purchase(base, era) {
  const checkout = base + "/mcp";
  const payments = base + "/payments/mcp";
  await list(checkout, era, [
    "cancel_checkout_session", "complete_checkout_session", "create_checkout_session", "get_checkout_session", "update_checkout_session",
  ]);
  await list(payments, era, ["delegate_payment"]);

  const open = (quantity) => call(checkout, era, "create_checkout_session", {
    meta: meta(),
    payload: { line_items: [{ id: ITEM, quantity }], currency: "usd", capabilities: { interventions: { supported: ["3ds"] } } },
  });
  let session = await open(2);
  session = await call(checkout, era, "update_checkout_session", {
    meta: meta(), id: session.id,
    payload: { fulfillment_details: { name: address.name, email: "ada@example.com", address } },
  });
  const option = session.fulfillment_options[0];
  session = await call(checkout, era, "update_checkout_session", {
    meta: meta(), id: session.id,
    payload: { selected_fulfillment_options: [{ type: option.type, option_id: option.id, item_ids: [session.line_items[0].id] }] },
  });
  assert.equal(session.status, "ready_for_payment", `${era}: after choosing delivery`);
  const total = session.totals.find((t) => t.type === "total").amount;
  const token = await call(payments, era, "delegate_payment", {
    meta: meta(),
    payload: {
      payment_method: {
        type: "card", card_number_type: "fpan", number: "4242424242424242", exp_month: "11", exp_year: "2031", cvc: "223",
        display_card_funding_type: "credit", display_last4: "4242", metadata: {},
      },
      allowance: {
        reason: "one_time", max_amount: total, currency: "usd", checkout_session_id: session.id, merchant_id: MERCHANT,
        expires_at: new Date(Date.now() + 600_000).toISOString(),
      },
      risk_signals: [{ type: "card_testing", score: 5, action: "authorized" }],
      metadata: {},
    },
  });
  const done = await call(checkout, era, "complete_checkout_session", {
    meta: meta(), id: session.id,
    payload: { payment_data: { handler_id: session.capabilities.payment.handlers[0].id, instrument: { type: "card", credential: { type: "spt", token: token.id } } } },
  });
  assert.equal(done.status, "completed", `${era}: after paying`);
  const again = await call(checkout, era, "get_checkout_session", { meta: { api_version: apiVersion }, id: session.id });
  assert.deepEqual(again.order?.id, done.order.id, `${era}: the order`);
  const other = await open(1);
  const canceled = await call(checkout, era, "cancel_checkout_session", { meta: meta(), id: other.id });
  assert.equal(canceled.status, "canceled", `${era}: after canceling`);

  const { failed } = await inspect(checkout, era, "--method", "tools/call", "--tool-name", "get_checkout_session",
    "--tool-args-json", JSON.stringify({ meta: { api_version: apiVersion }, id: "no_such_session" }));
  // The Inspector's command line shows of a JSON-RPC error its message only.
  assert.match(failed ?? "it succeeded", /no such checkout session/, `${era}: an unknown session is an error`);
  console.log(`  ${era.padEnd(6)} an unknown session: ${JSON.parse(failed).error.message}`);
}

const ITEM = process.env.ITEM ?? "item_mug";
const MERCHANT = process.env.MERCHANT ?? "merchant_sample";

const demo = spawn(bindery, ["demo", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
const stopped = new Promise((resolve) => demo.once("exit", resolve));
const watchdog = setTimeout(() => { console.error("inspector: gave up after 5 minutes"); demo.kill("SIGKILL"); process.exit(1); }, 300_000);
try {
  let base;
  const lines = [];
  for await (const line of createInterface({ input: demo.stdout })) {
    lines.push(line);
    base = line.match(/(http:\/\/127\.0\.0\.1:\d+)\/mcp\b/)?.[1] ?? base;
    if (/Ctrl-C/.test(line)) break;
  }
  assert.ok(base, `the demo printed no endpoint:\n${lines.join("\n")}`);
  console.log(`inspector 2.12.0 against ${base}`);
  for (const era of ["legacy", "modern"]) await purchase(base, era);
} finally {
  clearTimeout(watchdog);
  demo.kill("SIGINT");
  await stopped;
}
