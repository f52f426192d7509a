/**
 * Webhooks of a workspace: which events are sent, to whom, how they are signed, and what happens to undelivered
 * ones.
 */
import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { EVENT_TYPES } from "../../../../src/features/signals/webhooks/event-types.ts";
import { deploy, expectOk } from "../../../support/harness.ts";
import {
  advanceClock,
  ask,
  awaitDeliveries,
  awaitMessages,
  change,
  createEndpoint,
  createVariableBody,
  listDeliveries,
  type Message,
  receiver,
  server,
  setUpWebhooks,
  WEBHOOKS,
} from "./webhook-setup.ts";

setUpWebhooks();

describe("events", () => {
  test("are listed in pages, newest first, each starting where the previous one ended", async () => {
    const { id } = await createEndpoint();
    for (let n = 0; n < 3; n++) await change();
    const all = await awaitDeliveries(id, "delivered", 3);
    const numbers = all.map(({ event_seq }: any) => event_seq);
    expect(numbers).toEqual(numbers.toSorted((a: number, b: number) => b - a));
    const [first] = await listDeliveries(id, "?per_page=1");
    expect(first).toEqual(all[0]);
    expect(await listDeliveries(id, `?before=${first.event_seq}`)).toEqual(all.slice(1));
    expect(await listDeliveries(id, `?before=${all.at(-1).event_seq}`)).toEqual([]);
  });

  test("are sent for every change of the workspace, in order, with their keys", async () => {
    const { id } = await createEndpoint();
    const flow = { summary: "", value: { modules: [] } };
    const resource = { value: {}, resource_type: "any" };
    const app = { summary: "", value: {}, policy: { execution_mode: "viewer" } };
    const hashes: string[] = [];
    const steps: [() => Promise<unknown>, object][] = [
      [
        () => expectOk(ask("POST", "/w/acme/variables/create", createVariableBody("u/admin/v"))),
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
    await awaitMessages(steps.length);
    const told = receiver.messages.map(({ body }) => JSON.parse(body));
    const wanted = steps.map(([, keys]) => {
      const { type } = keys as { type: string };
      return type.includes("ResourceType") ? keys : { ...keys, workspace: "acme" };
    });
    expect(told).toEqual(wanted);
    const listed = await awaitDeliveries(id, "delivered", steps.length);
    expect(listed.map(({ type }: any) => type)).toEqual(wanted.map(({ type }: any) => type).reverse());
    expect(listed[0]).toMatchObject({ attempts: 1, status: 200, error: null });
  });

  test("are not sent for rejected calls", async () => {
    const { id } = await createEndpoint();
    const path = await change();
    expect((await ask("POST", "/w/acme/variables/create", createVariableBody(path))).status).toBe(400);
    await change();
    await awaitMessages(2);
    expect((await listDeliveries(id)).map(({ type }: any) => type)).toEqual([
      "CreateVariable",
      "CreateVariable",
    ]);
  });

  test("are sent to each endpoint by its subscription, and not to a disabled one", async () => {
    await createEndpoint("/all");
    await createEndpoint("/deleted", { types: ["DeleteVariable"] });
    const off = await createEndpoint("/off");
    await expectOk(ask("POST", `${WEBHOOKS}/update/${off.id}`, { enabled: false }));
    const path = await change();
    await expectOk(ask("DELETE", `/w/acme/variables/delete/${path}`));
    await awaitMessages(3);
    const paths = receiver.messages.map((message) => [message.path, JSON.parse(message.body).type]);
    expect(paths.toSorted()).toEqual([
      ["/all", "CreateVariable"],
      ["/all", "DeleteVariable"],
      ["/deleted", "DeleteVariable"],
    ]);
    expect(await listDeliveries(off.id)).toEqual([]);
  });

  test("are not sent to endpoints of other workspaces", async () => {
    const other = await server.workspace("other");
    await createEndpoint();
    await expectOk(other.ask("POST", "/w/other/variables/create", createVariableBody()));
    await change();
    await awaitMessages(1);
    expect(JSON.parse(receiver.messages[0]!.body).workspace).toBe("acme");
  });
});

describe("the signature", () => {
  test("verifies by the reference library of Standard Webhooks", async () => {
    const { secret } = await createEndpoint();
    await change();
    const [{ body, headers }] = (await awaitMessages(1)) as [Message];
    const verified = new Webhook(secret).verify(body, Object.fromEntries(headers));
    expect(verified).toMatchObject({ type: "CreateVariable" });
    expect(() => new Webhook(secret).verify(`${body} `, Object.fromEntries(headers))).toThrow();
  });

  test("is made with the previous secret too, for a day after a rotation", async () => {
    const { id, secret } = await createEndpoint();
    const rotated = (await expectOk(ask("POST", `${WEBHOOKS}/rotate_secret/${id}`))).json().secret;
    expect(rotated).not.toBe(secret);
    await change();
    const [first] = (await awaitMessages(1)) as [Message];
    for (const each of [secret, rotated]) {
      new Webhook(each).verify(first.body, Object.fromEntries(first.headers));
    }
    advanceClock(25 * 3_600_000);
    await change();
    const last = (await awaitMessages(2))[1]!;
    const signature = last.headers.get("webhook-signature")!;
    expect(signature.split(" ")).toHaveLength(1);
    advanceClock(-25 * 3_600_000);
  });

  test("uses a secret that is shown once", async () => {
    const { id, secret } = await createEndpoint();
    const listed = await ask("GET", `${WEBHOOKS}/list`);
    expect(listed.json()[0].id).toBe(id);
    expect(listed.text).not.toContain(secret.slice(6));
    expect(Object.keys(listed.json()[0]).filter((key) => key.includes("secret"))).toEqual([]);
    const audit = await ask("GET", "/w/acme/audit/list?operation=webhooks.create");
    expect(audit.text).not.toContain(secret.slice(6));
    expect(audit.text).not.toContain("/hook");
  });
});
