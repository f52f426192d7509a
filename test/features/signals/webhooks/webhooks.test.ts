/** Webhooks of a workspace: what is told, to whom, how it is proven, and what becomes of what does not arrive. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { dialect } from "../../../../src/database/kit.ts";
import { computeNextAttempt } from "../../../../src/features/signals/webhooks/deliveries.ts";
import { EVENT_TYPES } from "../../../../src/features/signals/webhooks/event-types.ts";
import { findDueBatch } from "../../../../src/features/signals/webhooks/sender/webhook-batch.ts";
import { webhookDeliveries, webhookEndpoints } from "../../../../src/features/signals/webhooks/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let receiver: Receiver;

beforeAll(async () => {
  server = await startTestServer({ allowed_targets: "127.0.0.1" });
  ({ ask } = await server.workspace());
  receiver = startReceiver();
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});
beforeEach(async () => {
  for (const { id } of (await ask("GET", `${hooks}/list`)).json()) {
    await expectOk(ask("DELETE", `${hooks}/delete/${id}`));
  }
  receiver.reset();
});

const hooks = "/w/acme/webhooks";

interface Message {
  path: string;
  body: string;
  headers: Headers;
}

interface Receiver {
  url: string;
  messages: Message[];
  /** What is answered from now on. */
  answer: (message: Message) => Response | Promise<Response>;
  reset(): void;
  stop(): Promise<void>;
}

function startReceiver(): Receiver {
  const ok = () => new Response("thanks");
  const messages: Message[] = [];
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const message = {
        path: new URL(request.url).pathname,
        body: await request.text(),
        headers: request.headers,
      };
      messages.push(message);
      return made.answer(message);
    },
  });
  const made: Receiver = {
    url: `http://127.0.0.1:${http.port}`,
    messages,
    answer: ok,
    reset() {
      messages.length = 0;
      made.answer = ok;
    },
    stop: () => http.stop(true),
  };
  return made;
}

async function endpoint(path = "/hook", more: object = {}): Promise<{ id: string; secret: string }> {
  return (await expectOk(ask("POST", `${hooks}/create`, { url: receiver.url + path, ...more }))).json();
}

const deliveries = async (id: string, query = "") =>
  (await expectOk(ask("GET", `${hooks}/deliveries/${id}${query}`))).json();
const arrived = (count: number) =>
  until(async () => (receiver.messages.length >= count ? receiver.messages : undefined), `${count} messages`);
const settled = (id: string, state: string, count = 1) =>
  until(async () => {
    const found = await deliveries(id, `?state=${state}&per_page=1000`);
    return found.length >= count ? found : undefined;
  }, `${count} deliveries that are ${state}`);

let names = 0;
const variable = (path = `u/admin/told_${++names}`) => ({
  path,
  value: "1",
  is_secret: false,
  description: "",
});
/** Any change: it is told, and makes the sender look for what is due. */
const change = async () => {
  const body = variable();
  await expectOk(ask("POST", "/w/acme/variables/create", body));
  return body.path;
};

/** The clock of the server goes on by this much. */
function later(ms: number): void {
  const { app } = server.server;
  const before = app.clock;
  Object.assign(app, { clock: () => new Date(before().getTime() + ms) });
}

describe("what is told", () => {
  test("each change of the workspace, in order, with the keys that receivers know", async () => {
    const { id } = await endpoint();
    const flow = { summary: "", value: { modules: [] } };
    const resource = { value: {}, resource_type: "any" };
    const app = { summary: "", value: {}, policy: { execution_mode: "viewer" } };
    const hashes: string[] = [];
    const steps: [() => Promise<unknown>, object][] = [
      [
        () => expectOk(ask("POST", "/w/acme/variables/create", variable("u/admin/v"))),
        { type: "CreateVariable", path: "u/admin/v" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/variables/update/u/admin/v", { value: "2" })),
        { type: "UpdateVariable", old_path: "u/admin/v", new_path: "u/admin/v" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/variables/update/u/admin/v", { path: "u/admin/w" })),
        { type: "UpdateVariable", old_path: "u/admin/v", new_path: "u/admin/w" },
      ],
      [
        () => expectOk(ask("DELETE", "/w/acme/variables/delete/u/admin/w")),
        { type: "DeleteVariable", path: "u/admin/w" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/resources/create", { ...resource, path: "u/admin/r" })),
        { type: "CreateResource", path: "u/admin/r" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/resources/update/u/admin/r", { path: "u/admin/s" })),
        { type: "UpdateResource", old_path: "u/admin/r", new_path: "u/admin/s" },
      ],
      [
        () => expectOk(ask("DELETE", "/w/acme/resources/delete/u/admin/s")),
        { type: "DeleteResource", path: "u/admin/s" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/resources/type/create", { name: "c_told", schema: {} })),
        { type: "CreateResourceType", name: "c_told" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/resources/type/update/c_told", { description: "x" })),
        { type: "UpdateResourceType", name: "c_told" },
      ],
      [
        () => expectOk(ask("DELETE", "/w/acme/resources/type/delete/c_told")),
        { type: "DeleteResourceType", name: "c_told" },
      ],
      [
        () => deploy(ask, "acme", "u/admin/script", "export const main = () => 1"),
        { type: "CreateScript", path: "u/admin/script", hash: expect.stringMatching(/^[0-9a-f]{16}$/) },
      ],
      [
        async () => {
          await deploy(ask, "acme", "u/admin/script", "export const main = () => 2");
          hashes.push((await ask("GET", "/w/acme/scripts/get/p/u/admin/script")).json().hash);
        },
        { type: "UpdateScript", path: "u/admin/script", hash: expect.stringMatching(/^[0-9a-f]{16}$/) },
      ],
      [
        () => expectOk(ask("POST", `/w/acme/scripts/archive/h/${hashes[0]}`)),
        { type: "DeleteScript", hash: expect.stringMatching(/^[0-9a-f]{16}$/) },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/scripts/archive/p/u/admin/script")),
        { type: "DeleteScriptPath", path: "u/admin/script" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/flows/create", { ...flow, path: "u/admin/f" })),
        { type: "CreateFlow", path: "u/admin/f" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/flows/update/u/admin/f", { ...flow, path: "u/admin/g" })),
        { type: "UpdateFlow", old_path: "u/admin/f", new_path: "u/admin/g" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/flows/archive/u/admin/g", { archived: true })),
        { type: "ArchiveFlow", path: "u/admin/g" },
      ],
      [
        () => expectOk(ask("DELETE", "/w/acme/flows/delete/u/admin/g")),
        { type: "DeleteFlow", path: "u/admin/g" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/apps/create", { ...app, path: "u/admin/a" })),
        { type: "CreateApp", path: "u/admin/a" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/apps/update/u/admin/a", { path: "u/admin/b" })),
        { type: "UpdateApp", old_path: "u/admin/a", new_path: "u/admin/b" },
      ],
      [
        () => expectOk(ask("DELETE", "/w/acme/apps/delete/u/admin/b")),
        { type: "DeleteApp", path: "u/admin/b" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/folders/create", { name: "told" })),
        { type: "CreateFolder", name: "told" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/folders/update/told", { summary: "x" })),
        { type: "UpdateFolder", name: "told" },
      ],
      [
        () => expectOk(ask("POST", "/w/acme/folders/addowner/told", { owner: "g/all" })),
        { type: "UpdateFolder", name: "told" },
      ],
      [() => expectOk(ask("DELETE", "/w/acme/folders/delete/told")), { type: "DeleteFolder", name: "told" }],
    ];
    const types = new Set(steps.map(([, keys]) => (keys as { type: string }).type));
    expect(EVENT_TYPES.filter((type) => !types.has(type) && !type.startsWith("Token"))).toEqual([]);
    for (const [step] of steps) await step();
    await arrived(steps.length);
    const told = receiver.messages.map(({ body }) => JSON.parse(body));
    const wanted = steps.map(([, keys]) => {
      const { type } = keys as { type: string };
      return type.includes("ResourceType") ? keys : { ...keys, workspace: "acme" };
    });
    expect(told).toEqual(wanted);
    const listed = await settled(id, "delivered", steps.length);
    expect(listed.map(({ type }: any) => type)).toEqual(wanted.map(({ type }: any) => type).reverse());
    expect(listed[0]).toMatchObject({ attempts: 1, status: 200, error: null });
  });

  test("nothing of what was refused", async () => {
    const { id } = await endpoint();
    const path = await change();
    expect((await ask("POST", "/w/acme/variables/create", variable(path))).status).toBe(400);
    await change();
    await arrived(2);
    expect((await deliveries(id)).map(({ type }: any) => type)).toEqual(["CreateVariable", "CreateVariable"]);
  });

  test("to each endpoint what it asked for, and nothing to one that is switched off", async () => {
    await endpoint("/all");
    await endpoint("/deleted", { types: ["DeleteVariable"] });
    const off = await endpoint("/off");
    await expectOk(ask("POST", `${hooks}/update/${off.id}`, { enabled: false }));
    const path = await change();
    await expectOk(ask("DELETE", `/w/acme/variables/delete/${path}`));
    await arrived(3);
    const paths = receiver.messages.map((message) => [message.path, JSON.parse(message.body).type]);
    expect(paths.toSorted()).toEqual([
      ["/all", "CreateVariable"],
      ["/all", "DeleteVariable"],
      ["/deleted", "DeleteVariable"],
    ]);
    expect(await deliveries(off.id)).toEqual([]);
  });

  test("not to another workspace", async () => {
    const other = await server.workspace("other");
    await endpoint();
    await expectOk(other.ask("POST", "/w/other/variables/create", variable()));
    await change();
    await arrived(1);
    expect(JSON.parse(receiver.messages[0]!.body).workspace).toBe("acme");
  });
});

describe("the signature", () => {
  test("is one that the convention's own library verifies", async () => {
    const { secret } = await endpoint();
    await change();
    const [{ body, headers }] = (await arrived(1)) as [Message];
    const verified = new Webhook(secret).verify(body, Object.fromEntries(headers));
    expect(verified).toMatchObject({ type: "CreateVariable" });
    expect(() => new Webhook(secret).verify(`${body} `, Object.fromEntries(headers))).toThrow();
  });

  test("is made with the old secret too for a day after a new one", async () => {
    const { id, secret } = await endpoint();
    const rotated = (await expectOk(ask("POST", `${hooks}/rotate_secret/${id}`))).json().secret;
    expect(rotated).not.toBe(secret);
    await change();
    const [first] = (await arrived(1)) as [Message];
    for (const each of [secret, rotated]) {
      new Webhook(each).verify(first.body, Object.fromEntries(first.headers));
    }
    later(25 * 3_600_000);
    await change();
    const last = (await arrived(2))[1]!;
    const signature = last.headers.get("webhook-signature")!;
    expect(signature.split(" ")).toHaveLength(1);
    later(-25 * 3_600_000);
  });

  test("needs a secret that is shown once", async () => {
    const { id, secret } = await endpoint();
    const listed = await ask("GET", `${hooks}/list`);
    expect(listed.json()[0].id).toBe(id);
    expect(listed.text).not.toContain(secret.slice(6));
    expect(Object.keys(listed.json()[0]).filter((key) => key.includes("secret"))).toEqual([]);
    const audit = await ask("GET", "/w/acme/audit/list?operation=webhooks.create");
    expect(audit.text).not.toContain(secret.slice(6));
    expect(audit.text).not.toContain("/hook");
  });
});

describe("what does not arrive", () => {
  test("is retried with backoff, while later events are sent", async () => {
    const { id } = await endpoint();
    receiver.answer = ({ body }) =>
      new Response("", { status: body.includes("failing") && receiver.messages.length < 3 ? 500 : 200 });
    await expectOk(ask("POST", "/w/acme/variables/create", variable("u/admin/failing")));
    await settled(id, "pending");
    await change();
    await settled(id, "delivered");
    const [waits] = await deliveries(id, "?state=pending");
    expect(waits).toMatchObject({ attempts: 1, status: 500, error: "the receiver answered 500" });
    later(60_000);
    await change();
    await settled(id, "delivered", 3);
    const all = await deliveries(id);
    expect(all.map(({ attempts }: any) => attempts)).toEqual([1, 1, 2]);
    const ids = receiver.messages.map(({ headers }) => headers.get("webhook-id"));
    expect(ids.filter((each) => each === waits.event_id)).toHaveLength(2);
    expect((await ask("GET", `${hooks}/list`)).json()[0].failing_since).toBeNull();
  });

  test("is kept after a day, and sent again when somebody asks", async () => {
    const { id } = await endpoint();
    receiver.answer = () => new Response("", { status: 503 });
    await change();
    await settled(id, "pending");
    await until(async () => ((await deliveries(id))[0].attempts === 1 ? true : undefined), "the first try");
    later(25 * 3_600_000);
    const failing = (await ask("GET", `${hooks}/list`)).json()[0].failing_since;
    expect(failing).not.toBeNull();
    await change();
    const [given_up] = await settled(id, "failed");
    expect(given_up).toMatchObject({ attempts: 2, status: 503 });
    const alert = await until(async () => {
      const all = (await expectOk(server.operator("GET", "/settings/critical_alerts"))).json();
      return all.find(({ kind }: any) => kind === "webhook_dead");
    }, "the alert");
    expect(alert).toMatchObject({ alert_type: "critical_error", workspace_id: "acme" });
    expect(alert.message).toContain(`${id} at 127.0.0.1`);
    expect(alert.message).not.toContain("/hook");
    receiver.answer = () => new Response("");
    expect((await ask("POST", `${hooks}/redeliver/${id}`, {})).json()).toEqual({ count: 1 });
    const again = await until(async () => {
      const found = (await deliveries(id)).find(({ event_seq }: any) => event_seq === given_up.event_seq);
      return found.state === "delivered" ? found : undefined;
    }, "the third try");
    expect(again.attempts).toBe(3);
    const one = { event_seq: given_up.event_seq };
    expect((await ask("POST", `${hooks}/redeliver/${id}`, one)).json()).toEqual({ count: 1 });
    expect((await ask("POST", `${hooks}/redeliver/${id}`, { event_seq: 10 ** 9 })).status).toBe(404);
    later(-25 * 3_600_000);
  });

  test("is given up for now after 5 seconds", async () => {
    const { id } = await endpoint();
    const held = Promise.withResolvers<Response>();
    receiver.answer = () => held.promise;
    const began = performance.now();
    await change();
    const found = await until(async () => {
      const [first] = await deliveries(id);
      return first?.error ? first : undefined;
    }, "the first try");
    expect(found).toMatchObject({
      state: "pending",
      status: null,
      error: "127.0.0.1 did not answer within 5 s",
    });
    expect(performance.now() - began).toBeGreaterThan(4_900);
    held.resolve(new Response(""));
  });

  test.each([
    [1, 1, 2_500],
    [1, 0, 5_000],
    [3, 1, 10_000],
    [3, 0, 20_000],
    [40, 1, 5_400_000],
    [40, 0, 10_800_000],
  ])("is tried again after try %i with chance %i in %i ms", (attempts, chance, wanted) => {
    const now = new Date();
    const young = { attempts, created_at: now, now };
    expect(computeNextAttempt(young, { ok: false }, () => chance)!.getTime() - now.getTime()).toBe(wanted);
    const asked = computeNextAttempt(young, { ok: false, retry_after_ms: 60_000_000 }, () => chance)!;
    expect(asked.getTime() - now.getTime()).toBe(60_000_000);
    const old = { ...young, created_at: new Date(now.getTime() - 24 * 3_600_000) };
    expect(computeNextAttempt(old, { ok: false }, () => chance)).toBeUndefined();
  });

  test("of many that wait, it is sent with several at once, until all have arrived", async () => {
    const { id } = await endpoint();
    receiver.answer = () => new Response("", { status: 503 });
    for (let at = 0; at < 150; at += 10) await Promise.all(Array.from({ length: 10 }, change));
    let most = 0;
    let now = 0;
    receiver.answer = async () => {
      most = Math.max(most, ++now);
      await Bun.sleep(5);
      now--;
      return new Response("", { status: Math.random() < 0.5 ? 500 : 200 });
    };
    later(60_000);
    await change();
    await until(() => (most > 1 ? true : undefined), "several at once");
    receiver.answer = () => new Response("");
    later(24 * 3_600_000 - 120_000);
    await change();
    await settled(id, "delivered", 152);
    expect(await deliveries(id, "?state=failed")).toEqual([]);
    later(-24 * 3_600_000 + 60_000);
  }, 30_000);

  test("does not delay other endpoints", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await endpoint("/slow");
    const fast = await endpoint("/fast");
    receiver.answer = async ({ path }) => {
      if (path === "/slow") await held;
      return new Response("");
    };
    for (let round = 0; round < 5; round++) await change();
    await settled(fast.id, "delivered", 5);
    expect(receiver.messages.filter(({ path }) => path === "/slow")).toHaveLength(1);
    release();
    await arrived(10);
  });

  test.each([
    ["301", 301],
    ["302", 302],
    ["404", 404],
    ["410", 410],
    ["a redirect to where there is nobody", 308],
  ])("counts as failed: %s", async (_, status) => {
    const { id } = await endpoint();
    receiver.answer = () => new Response("", { status, headers: { location: "http://127.0.0.1:1/" } });
    await change();
    const [found] = await until(async () => {
      const all = await deliveries(id, "?state=pending");
      return all[0]?.attempts === 1 ? all : undefined;
    }, "the first try");
    expect(found.error).toBe(
      status === 308
        ? "127.0.0.1 cannot be reached: the connection was refused"
        : `the receiver answered ${status}`,
    );
  });
});

// PostgreSQL lets both go on at once: there, whoever is first has switched it off before it is switched on.
test.if(dialect === "sqlite")(
  "an endpoint that is switched on again while it is left keeps what waits",
  async () => {
    const { app } = server.server;
    receiver.answer = () => new Response("", { status: 500 });
    const { id } = await endpoint();
    await change();
    await until(async () => (await deliveries(id))[0]?.error ?? undefined, "the first try");
    const at = eq(webhookEndpoints.id, id);
    await app.db.write((tx) => tx.update(webhookEndpoints).set({ enabled: false }).where(at));
    const { promise: seen, resolve: go } = Promise.withResolvers<void>();
    const switchedOn = app.db.write(async (tx) => {
      await tx.update(webhookEndpoints).set({ enabled: true }).where(at);
      await seen;
    });
    const look = findDueBatch(app, id, true);
    // It has seen that the endpoint is off once it waits for its turn to write.
    setTimeout(go, 100);
    await Promise.all([switchedOn, look]);
    expect((await deliveries(id))[0]).toMatchObject({ state: "pending" });
    await app.db.write((tx) => tx.update(webhookEndpoints).set({ enabled: false }).where(at));
    await findDueBatch(app, id, true);
    expect((await deliveries(id))[0]).toMatchObject({
      state: "failed",
      error: "the endpoint was switched off",
    });
  },
);

describe("targets of the server's own network", () => {
  let strict: TestServer;
  let asked: Ask;
  beforeAll(async () => {
    strict = await startTestServer({ allowed_targets: "" });
    ({ ask: asked } = await strict.workspace());
  });
  afterAll(() => strict.stop());

  test.each([
    ["loopback", "http://127.0.0.1:8000/"],
    ["loopback in other words", "http://2130706433/"],
    ["loopback of IPv6", "http://[::1]/"],
    ["IPv4 in IPv6", "http://[::ffff:10.0.0.1]/"],
    ["a private network", "https://192.168.1.1/hook"],
    ["a cloud's metadata", "http://169.254.169.254/latest"],
    ["no host", "http://"],
    ["no address", "hook"],
    ["another scheme", "file:///etc/passwd"],
    ["what is too long", `https://example.org/${"x".repeat(2_000)}`],
  ])("are refused: %s", async (_, url) => {
    const answer = await asked("POST", `${hooks}/create`, { url });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("`url`")]);
  });

  test("are refused by name, when the name is resolved", async () => {
    const { id } = (await expectOk(asked("POST", `${hooks}/create`, { url: "http://localhost:1/x" }))).json();
    await expectOk(asked("POST", "/w/acme/variables/create", variable()));
    const found = await until(async () => {
      const [first] = (await asked("GET", `${hooks}/deliveries/${id}`)).json();
      return first?.error ? first : undefined;
    }, "the first try");
    expect(found.error).toContain("localhost is an address of this machine or of a private network");
  });

  test("are refused after a redirect", async () => {
    const elsewhere = Bun.serve({ port: 0, hostname: "127.0.0.2", fetch: () => new Response("secrets") });
    const { id } = await endpoint();
    receiver.answer = () => Response.redirect(`http://127.0.0.2:${elsewhere.port}/`, 307);
    await change();
    const found = await until(async () => {
      const [first] = await deliveries(id);
      return first?.error ? first : undefined;
    }, "the first try");
    expect(found.error).toContain("127.0.0.2 is an address of this machine");
    await elsewhere.stop(true);
  });
});

test.each([
  ["no type", { types: [] }, "types"],
  ["an unknown type", { types: ["CreateEverything"] }, "types"],
])("%s is refused", async (_, more, field) => {
  const answer = await ask("POST", `${hooks}/create`, { url: receiver.url, ...more });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(field)]);
});

test("the same address twice is refused", async () => {
  await endpoint("/twice");
  const answer = await ask("POST", `${hooks}/create`, { url: `${receiver.url}/twice` });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("already")]);
});

test("only admins manage endpoints", async () => {
  const { id } = await endpoint();
  const { ask: developer } = await server.member("acme", "developer");
  const calls: [string, string, object?][] = [
    ["POST", "create", { url: receiver.url }],
    ["GET", "list"],
    ["POST", `update/${id}`, {}],
    ["DELETE", `delete/${id}`],
    ["POST", `rotate_secret/${id}`],
    ["GET", `deliveries/${id}`],
    ["POST", `redeliver/${id}`, {}],
  ];
  for (const [method, path, body] of calls) {
    expect((await developer(method, `${hooks}/${path}`, body)).status).toBe(403);
  }
});

describe("the webhook of the workspace's settings", () => {
  const edit = (webhook: string | null) => ask("POST", "/w/acme/workspaces/edit_webhook", { webhook });
  const settled = async () => (await ask("GET", "/w/acme/workspaces/get_settings")).json().webhook;
  const listed = async () => (await ask("GET", `${hooks}/list`)).json();

  test("is stored as an endpoint for all events, and nowhere else", async () => {
    await expectOk(edit(`${receiver.url}/first?key=1`));
    expect(await settled()).toBe(`${receiver.url}/first?key=1`);
    const [made] = await listed();
    expect(made).toMatchObject({ is_workspace_webhook: true, enabled: true, types: null });
    await change();
    await arrived(1);
    await expectOk(edit(`${receiver.url}/second`));
    expect((await listed()).map(({ id, url }: any) => [id, url])).toEqual([
      [made.id, `${receiver.url}/second`],
    ]);
    await change();
    await arrived(2);
    expect(receiver.messages.map(({ path }) => path)).toEqual(["/first", "/second"]);

    await expectOk(ask("POST", `${hooks}/update/${made.id}`, { url: `${receiver.url}/third` }));
    expect(await settled()).toBe(`${receiver.url}/third`);
    await expectOk(ask("POST", `${hooks}/update/${made.id}`, { enabled: false }));
    expect(await settled()).toBeNull();
    await expectOk(edit(`${receiver.url}/fourth`));
    expect(await settled()).toBe(`${receiver.url}/fourth`);
    const rows = (await ask("GET", "/w/acme/audit/list?operation=workspaces.edit_webhook")).text;
    expect(rows).toContain(new URL(receiver.url).host);
    expect(rows).not.toContain("key=1");
  });

  test.each([[null], [""]])("%j ends it", async (nothing) => {
    await expectOk(edit(receiver.url));
    await expectOk(edit(nothing));
    expect([await settled(), await listed()]).toEqual([null, []]);
    await change();
    const { id } = await endpoint();
    await change();
    await arrived(1);
    expect(await deliveries(id)).toHaveLength(1);
  });

  test("may be nowhere on the server's own network", async () => {
    const answer = await edit("http://10.1.2.3/");
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("10.1.2.3")]);
  });
});

describe("what is kept of an endpoint", () => {
  const verified = (secret: string, { body, headers }: Message) =>
    new Webhook(secret).verify(body, Object.fromEntries(headers));

  test.each([[false], [true]])(
    "goes on signing after the workspace's key was exchanged (skip_reencrypt %j)",
    async (skip_reencrypt) => {
      const { id, secret } = await endpoint();
      const { secret: newer } = (await expectOk(ask("POST", `${hooks}/rotate_secret/${id}`))).json();
      const new_key = (skip_reencrypt ? "b" : "a").repeat(64);
      await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key, skip_reencrypt }));
      await change();
      const [message] = await arrived(1);
      for (const each of [secret, newer])
        expect(verified(each, message!)).toMatchObject({ type: "CreateVariable" });
    },
  );

  test("follows the workspace to another id, and goes with it", async () => {
    const { ask: owner } = await server.workspace("goes");
    const made = (
      await expectOk(owner("POST", "/w/goes/webhooks/create", { url: `${receiver.url}/goes` }))
    ).json();
    const root = (await server.user("goes_root", { super_admin: true })).ask;
    const body = { new_id: "went", new_name: "went" };
    await expectOk(root("POST", "/w/goes/workspaces/change_workspace_id", body));
    await expectOk(owner("POST", "/w/went/variables/create", variable("u/admin/told")));
    const [message] = await arrived(1);
    expect(verified(made.secret, message!)).toMatchObject({ type: "CreateVariable", workspace: "went" });
    await until(async () => {
      const [sent] = (await owner("GET", `/w/went/webhooks/deliveries/${made.id}`)).json();
      return sent.state === "delivered" ? true : undefined;
    }, "the delivery");
    await expectOk(root("DELETE", "/workspaces/delete/went"));
    const { db } = server.server.app;
    expect(await db.read.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, made.id))).toEqual([]);
    expect(
      await db.read.select().from(webhookDeliveries).where(eq(webhookDeliveries.endpoint_id, made.id)),
    ).toEqual([]);
  });
});
