/** How programs call a webhook. */
export type WebhookKind = "async" | "sync" | "stream";

const PREFIXES: Record<WebhookKind, string> = {
  async: "jobs/run/p",
  sync: "jobs/run_wait_result/p",
  stream: "jobs/run_and_stream/p",
};

export const WEBHOOKS: { value: WebhookKind; label: string; about: string }[] = [
  { value: "async", label: "Start", about: "Answers at once, with the id of the run." },
  { value: "sync", label: "Start and wait", about: "Answers with the result when it is there." },
  { value: "stream", label: "Start and stream", about: "Answers with events: what it writes as it goes." },
];

/** @param base address of the console, with its path prefix, without a slash at the end */
export const webhookAddress = (base: string, workspace: string, kind: WebhookKind, path: string): string =>
  `${base}/api/w/${workspace}/${PREFIXES[kind]}/${path}`;

export const SNIPPETS: { value: string; label: string; language: string }[] = [
  { value: "curl", label: "curl", language: "bash" },
  { value: "fetch", label: "JavaScript", language: "bun" },
  { value: "python", label: "Python", language: "python3" },
];

/** Single quotes of a POSIX shell. */
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns code that calls a webhook.
 * @param args JSON text
 */
export function writeSnippet(name: string, address: string, token: string, args: string): string {
  if (name === "curl") {
    return `curl -X POST ${quote(address)} \\
  -H ${quote(`Authorization: Bearer ${token}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${quote(args)}
`;
  }
  if (name === "fetch") {
    return `const response = await fetch(${JSON.stringify(address)}, {
  method: "POST",
  headers: {
    authorization: ${JSON.stringify(`Bearer ${token}`)},
    "content-type": "application/json",
  },
  body: JSON.stringify(${args}),
});
console.log(await response.text());
`;
  }
  return `import json
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(address)},
    data=json.dumps(json.loads(${JSON.stringify(args)})).encode(),
    headers={
        "Authorization": ${JSON.stringify(`Bearer ${token}`)},
        "Content-Type": "application/json",
    },
)
print(urllib.request.urlopen(request).read().decode())
`;
}
