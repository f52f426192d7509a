/** Code examples that call this server. */
export type WebhookKind = "async" | "sync" | "stream";

const PREFIXES: Record<WebhookKind, string> = {
  async: "jobs/run",
  sync: "jobs/run_wait_result",
  stream: "jobs/run_and_stream",
};

export const WEBHOOKS: { value: WebhookKind; label: string; about: string }[] = [
  { value: "async", label: "Start", about: "Responds at once, with the id of the run." },
  { value: "sync", label: "Start and wait", about: "Responds with the result when the run has ended." },
  {
    value: "stream",
    label: "Start and stream",
    about: "Responds with a stream of events (SSE) while it runs.",
  },
];

/**
 * Returns the URL of the webhook of a script or flow.
 * @param base the console's base URL, with its path prefix, without a trailing slash
 */
export const formatWebhookUrl = (
  base: string,
  workspace: string,
  kind: WebhookKind,
  of: "script" | "flow",
  path: string,
): string => `${base}/api/w/${workspace}/${PREFIXES[kind]}/${of === "flow" ? "f" : "p"}/${path}`;

export const SNIPPETS: { value: string; label: string; language: string }[] = [
  { value: "curl", label: "curl", language: "bash" },
  { value: "fetch", label: "JavaScript", language: "bun" },
  { value: "python", label: "Python", language: "python3" },
];

export interface ExampleRequest {
  method: string;
  address: string;
  headers?: Record<string, string>;
  /** JSON text; sent with its content type. */
  body?: string;
}

/** Quotes a text for a POSIX shell. */
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns code that sends a request. */
export function writeSnippet(name: string, { method, address, headers = {}, body }: ExampleRequest): string {
  const sent = { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  if (name === "curl") return writeCurl(method, address, sent, body);
  const fields = Object.entries(sent).map(
    ([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)},`,
  );
  if (name === "fetch") {
    return `const response = await fetch(${JSON.stringify(address)}, {
  method: ${JSON.stringify(method)},
${fields.length > 0 ? `  headers: {\n${fields.map((field) => `    ${field}\n`).join("")}  },\n` : ""}${
  body === undefined ? "" : `  body: JSON.stringify(${body}),\n`
}});
console.log(await response.text());
`;
  }
  return `${body === undefined ? "" : "import json\n"}import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(address)},
    method=${JSON.stringify(method)},
${body === undefined ? "" : `    data=json.dumps(json.loads(${JSON.stringify(body)})).encode(),\n`}${
  fields.length > 0 ? `    headers={\n${fields.map((field) => `        ${field}\n`).join("")}    },\n` : ""
})
print(urllib.request.urlopen(request).read().decode())
`;
}

function writeCurl(
  method: string,
  address: string,
  headers: Record<string, string>,
  body: string | undefined,
): string {
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quote(address)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ];
  return `${parts.join(" \\\n  ")}\n`;
}
