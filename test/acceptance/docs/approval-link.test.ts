/** The README's approval link: a step sends it to a chat, and anyone who opens it can answer. */
import { expect, test } from "bun:test";
import { expectOk, startTestServer, until } from "../../support/harness.ts";
import { isOffline } from "../clients/registry.ts";
import { blockOf } from "./blocks.ts";

test.skipIf(isOffline)(
  "the README's step sends a link, through which anyone answers as bob",
  async () => {
    const { promise, resolve } = Promise.withResolvers<{ text: string }>();
    using chat = Bun.serve({
      port: 0,
      fetch: async (request) => {
        resolve((await request.json()) as { text: string });
        return new Response("ok");
      },
    });
    await using server = await startTestServer();
    const { ask } = await server.workspace();
    const flow: any = Bun.YAML.parse(blockOf("README.md", "refund.yaml"));
    const code = blockOf("README.md", "ask.ts");
    const address = /https:\/\/chat\.example\.org\/[^"]*/;
    expect(code).toMatch(address);
    flow.value.modules[0].value.content = code.replace(address, chat.url.href);
    await expectOk(ask("POST", "/w/acme/flows/create", { ...flow, path: "u/admin/refund", schema: {} }));
    const id = (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/refund", { order: 7 }))).text;
    const { text } = await promise;
    const [, link = ""] = /^Refund order 7\? (http\S+)$/.exec(text) ?? [];
    // The link is sent while the step runs; the page shows its result once the flow waits.
    const page = await until(async () => {
      const text = await (await fetch(link)).text();
      return text.includes("Refund order 7?") ? text : undefined;
    }, "the page of the flow that waits");
    expect(page).toContain("Refunds an order once somebody has approved it");
    const [, field = ""] = /<input [^>]*name="([^"]*reason)"/.exec(page) ?? [];
    const body = new URLSearchParams({ answer: "approve", [field]: "it arrived broken" });
    expect(await (await fetch(link, { method: "POST", body })).text()).toContain("Approved");
    const job = await until(async () => {
      const found = (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
      return found.type === "CompletedJob" ? found : undefined;
    }, "the flow");
    expect(job.result).toBe("order 7 refunded: it arrived broken");
    expect(job.flow_status.modules[0].approvers).toMatchObject([{ approver: "bob" }]);
  },
  60_000,
);
