// Tries a node with the clients that people have: each lists the tools of the sample module, buys something with them,
// gets an error with data, and sees a change of the module that is made while it is connected. One line a client and
// check.
//
// usage: node run.mjs BIN INSTALLED   (the folder with bindery, merchant, psp and gosdk; the one with node_modules)

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import assert from "node:assert/strict";
import { Group, within } from "../internal/process.mjs";
import { clients } from "./clients.mjs";
import { checkoutTools, paymentTools, purchase, unknownSession } from "./purchase.mjs";

const [bin, installed] = process.argv.slice(2).map((dir) => resolve(dir));
if (!installed) {
  console.error("usage: node run.mjs BIN INSTALLED");
  process.exit(2);
}
const module = new URL("../../examples/acp", import.meta.url).pathname;
const tokens = { BINDERY_SECRET_MERCHANT_TOKEN: "merchant-secret", BINDERY_SECRET_PSP_TOKEN: "psp-secret", BINDERY_SECRET_REDEEM: "redeem-secret" };
const limit = 60_000; // for one check, in ms

// A Shop is a copy of the module, served, with its two services.
class Shop {
  group = new Group();
  dir = mkdtempSync(join(tmpdir(), "bindery-clients-"));
  edits = 0;

  constructor(flags) {
    this.flags = flags;
  }

  async open() {
    const service = (name, ...args) => this.group.start(join(bin, name), ["--listen", "127.0.0.1:0", ...args], [/url=(http:\S+)/], tokens);
    const psp = await service("psp");
    const merchant = await service("merchant", "--psp", psp);
    cpSync(module, this.dir, { recursive: true });
    this.url = await this.group.start(join(bin, "bindery"),
      ["dev", this.dir, ...this.flags, "--listen", "127.0.0.1:0", "-t", `merchant_url=${merchant}`, "-t", `psp_url=${psp}`],
      [/(http:\/\/127\.0\.0\.1:\d+)\/mcp\b/], tokens);
  }

  // edit says something new of the tool that is watched, and returns it.
  edit() {
    const file = join(this.dir, "checkout/checkout.cue");
    const said = `Read a checkout session, edition ${++this.edits}.`;
    const text = readFileSync(file, "utf8").replace(/(get_checkout_session: \{\s+description: )"[^"]*"/, `$1"${said}"`);
    assert.ok(text.includes(said), "the module has no tool get_checkout_session");
    writeFileSync(file, text);
    return said;
  }

  async close() {
    await this.group.stop();
    rmSync(this.dir, { recursive: true });
  }
}

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
};

// soon is whether promise settles within a second.
const soon = (promise) => within(1_000, promise, "").then(() => true, () => false);

// play runs all checks with one client and returns how many failed.
async function play(client, shop) {
  const who = [client.name.padEnd(38), client.revision.padEnd(10), ...shop.flags].join(" ");
  const line = (check, verdict) => console.log(`${who} ${check.padEnd(7)} ${verdict}`);
  const sessions = [];
  const open = async (path) => {
    const s = await within(limit, client.open(shop.url + path), "connect");
    sessions.push(s);
    return s;
  };
  let failed = 0;
  try {
    const given = { shop, checkout: await open("/mcp"), payments: await open("/payments/mcp") };
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
  const shop = new Shop(flags);
  let failed = 0;
  try {
    await shop.open();
    for (const client of clients(installed, join(bin, "gosdk")).filter(want)) failed += await play(client, shop);
  } finally {
    await shop.close();
  }
  return failed;
}

const modern = (client) => ["modern", "2026-07-28"].includes(client.revision);
const failed = await visit([], () => true) + await visit(["--stateful"], (client) => !modern(client)); // the newest revision has no sessions
console.log(failed === 0 ? "every client passes every check" : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
