// Tries a node with the clients that people have: each lists the tools of a sample module, buys something with them,
// gets an error with data, and sees a change of the module that is made while it is connected; and gets a prompt, reads
// a resource and is asked for a name in the course of a call of another module. One line a client and check.
//
// usage: node run.mjs BIN INSTALLED   (the folder with bindery, merchant, psp, studio and gosdk; the one with node_modules)

import { join, resolve } from "node:path";
import assert from "node:assert/strict";
import { within } from "../internal/process.mjs";
import { clients } from "./clients.mjs";
import { checkoutTools, paymentTools, purchase, unknownSession } from "./purchase.mjs";
import { Shop } from "./shop.mjs";

const [bin, installed] = process.argv.slice(2).map((dir) => resolve(dir));
if (!installed) {
  console.error("usage: node run.mjs BIN INSTALLED");
  process.exit(2);
}
const limit = 60_000; // for one check, in ms

// modern is whether a client speaks the newest revision, which has no sessions.
const modern = (client) => ["modern", "2026-07-28"].includes(client.revision);

const checks = {
  async list({ checkout, payments }) {
    assert.deepEqual((await checkout.list()).map((t) => t.name).sort(), checkoutTools);
    assert.deepEqual((await payments.list()).map((t) => t.name).sort(), paymentTools);
  },

  async call({ checkout, payments }) {
    const content = (session) => async (tool, args) => {
      const result = await session.call(tool, args);
      assert.ok(result.structuredContent, `${tool}: no structuredContent in ${JSON.stringify(result).slice(0, 300)}`);
      return result.structuredContent;
    };
    await purchase(content(checkout), content(payments));
  },

  async error({ checkout }) {
    const { tool, args, code, message, type } = unknownSession;
    const err = await checkout.call(tool, args).then((r) => assert.fail(`it succeeded: ${JSON.stringify(r)}`), (err) => err);
    assert.match(err.message, message);
    if (err.onlyMessage) return "its message: the client shows no code and no data";
    assert.equal(err.code, code);
    assert.equal(err.data?.type, type, JSON.stringify(err.data));
  },

  async reload({ checkout, shop }) {
    const description = async () => (await checkout.list()).find((t) => t.name === "get_checkout_session").description;
    let said = shop.edit();
    if (checkout.changed) { // the stream that tells it may still be opening: another edit tells it anew
      for (let tries = 1; !(await soon(checkout.changed)); tries++) {
        assert.ok(tries < 20, "the client was told nothing");
        said = shop.edit();
      }
    }
    for (const until = Date.now() + limit / 2; (await description()) !== said;) { // the edit may be on its way
      assert.ok(Date.now() < until, `the description is not ${JSON.stringify(said)}`);
    }
    return checkout.changed ? "told by list_changed" : "seen in the next list: the client cannot be told";
  },

  async prompt({ studio }) {
    const { messages } = await studio.prompt("greet", { name: "Ada" });
    assert.deepEqual(messages, [{ role: "user", content: { type: "text", text: "Say hello to Ada." } }]);
  },

  async resource({ studio }) {
    const { contents } = await studio.read("studio://things/12");
    assert.equal(contents[0].uri, "studio://things/12");
    assert.equal(JSON.parse(contents[0].text).id, "12");
  },

  // A client of an older revision can be asked within a session only.
  async ask({ studio, shop, client }) {
    const answer = await studio.call("introduce", {}).catch((err) => err);
    if (studio.answers && (modern(client) || shop.flags.includes("--stateful"))) {
      assert.match(answer.content?.[0]?.text ?? String(answer), /"name":"Ada"/);
      return;
    }
    assert.match(String(answer.message), /does not declare a capability/);
    return "refused: the client cannot be asked";
  },
};

// soon is whether promise settles within a second.
const soon = (promise) => within(1_000, promise, "").then(() => true, () => false);

// play runs all checks with one client and returns how many failed.
async function play(client, shop) {
  const who = [client.name.padEnd(38), client.revision.padEnd(10), ...shop.flags].join(" ");
  const line = (check, verdict) => console.log(`${who} ${check.padEnd(8)} ${verdict}`);
  const sessions = [];
  const open = async (url) => {
    const s = await within(limit, client.open(url), "connect");
    sessions.push(s);
    return s;
  };
  let failed = 0;
  try {
    const given = { client, shop, checkout: await open(shop.url + "/mcp"), payments: await open(shop.url + "/payments/mcp"), studio: await open(shop.studio + "/mcp") };
    for (const [name, check] of Object.entries(checks)) {
      try {
        const note = await within(limit, check(given), name);
        line(name, note ? `ok (${note})` : "ok");
      } catch (err) {
        failed++;
        line(name, `FAILED: ${err.message}`);
      }
    }
  } catch (err) {
    failed++;
    line("connect", `FAILED: ${err.message}`);
  } finally {
    for (const s of sessions) await within(limit, s.close(), "close").catch((err) => { failed++; line("close", `FAILED: ${err.message}`); });
  }
  return failed;
}

// visit opens a shop for the clients that meet want, and returns how many checks failed.
async function visit(flags, want) {
  const shop = new Shop(bin, flags);
  let failed = 0;
  try {
    await shop.open();
    for (const client of clients(installed, join(bin, "gosdk")).filter(want)) failed += await play(client, shop);
  } finally {
    await shop.close();
  }
  return failed;
}

const failed = await visit([], () => true) + await visit(["--stateful"], (client) => !modern(client));
console.log(failed === 0 ? "every client passes every check" : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
