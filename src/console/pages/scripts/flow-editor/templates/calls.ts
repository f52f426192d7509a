/** Templates of flows that are called by other flows, or call others. */
import { createCodeStep, createExpression, createInputSchema, type Template } from "./template.ts";

export const WEBHOOK: Template = {
  id: "webhook",
  label: "A webhook: check its signature, change it, call another service",
  about: "Without a secret, the signature is not checked; without an address, nothing is called.",
  flow: {
    summary: "Pass a webhook on",
    description:
      "Call it by its webhook address. The signature is an HMAC-SHA256 of the body, in hexadecimal digits.",
    schema: createInputSchema(
      {
        event: { type: "object", description: "What the sender tells" },
        signature: { type: "string", description: "Of the event, as JSON" },
        target: { type: "string", description: "Address to call", default: "" },
        secret: { type: "string", description: "Of the sender, such as $var:f/webhooks/secret", default: "" },
      },
      [],
    ),
    value: {
      modules: [
        createCodeStep(
          "a",
          "Check the signature",
          `import { createHmac, timingSafeEqual } from "node:crypto";

export async function main(event: object = {}, signature = "", secret = "") {
  if (secret === "") return { checked: false };
  const expected = createHmac("sha256", secret).update(JSON.stringify(event)).digest();
  const given = Buffer.from(signature, "hex");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Error("The signature is wrong");
  }
  return { checked: true };
}
`,
          {
            event: createExpression("flow_input.event"),
            signature: createExpression("flow_input.signature"),
            secret: createExpression("flow_input.secret"),
          },
        ),
        createCodeStep(
          "b",
          "Change it",
          `export async function main(event: Record<string, unknown> = {}) {
  return { received_at: new Date().toISOString(), ...event };
}
`,
          { event: createExpression("flow_input.event") },
        ),
        createCodeStep(
          "c",
          "Call the other service",
          `export async function main(body: object, target = "") {
  if (target === "") return { sent: false, body };
  const response = await fetch(target, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(\`The service answered \${response.status}\`);
  return { sent: true, status: response.status };
}
`,
          { body: createExpression("results.b"), target: createExpression("flow_input.target") },
          { retry: { exponential: { attempts: 3, multiplier: 1, seconds: 2, random_factor: 20 } } },
        ),
      ],
    },
  },
};

export const WATCH: Template = {
  id: "watch",
  label: "Watch an API and tell a chat",
  about: "Reads an address, tells a chat webhook when something is new: add a schedule to it",
  flow: {
    summary: "Watch and tell",
    description: "",
    schema: createInputSchema(
      {
        address: { type: "string", description: "Answers with a JSON list", default: "" },
        chat: { type: "string", description: "Address of the chat's incoming webhook", default: "" },
        after: { type: "string", description: "Id of the newest entry that is known", default: "" },
      },
      [],
    ),
    value: {
      modules: [
        createCodeStep(
          "a",
          "Read the API",
          `export async function main(address = "") {
  if (address === "") return [{ id: "1", title: "An example" }];
  const response = await fetch(address);
  if (!response.ok) throw new Error(\`It answered \${response.status}\`);
  return response.json();
}
`,
          { address: createExpression("flow_input.address") },
        ),
        createCodeStep(
          "b",
          "Find what is new",
          `export async function main(entries: { id: string; title: string }[], after = "") {
  const known = entries.findIndex(({ id }) => id === after);
  return known < 0 ? entries : entries.slice(0, known);
}
`,
          { entries: createExpression("results.a"), after: createExpression("flow_input.after") },
          { stop_after_if: { expr: "result.length === 0", skip_if_stopped: true } },
        ),
        createCodeStep(
          "c",
          "Tell the chat",
          `export async function main(entries: { title: string }[], chat = "") {
  const text = entries.map(({ title }) => title).join("\\n");
  if (chat === "") return { told: false, text };
  const response = await fetch(chat, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  if (!response.ok) throw new Error(\`The chat answered \${response.status}\`);
  return { told: true, text };
}
`,
          { entries: createExpression("results.b"), chat: createExpression("flow_input.chat") },
        ),
      ],
    },
  },
};
