/** A server with secrets, and scripts in each language that read one. */
import { afterAll, beforeAll } from "bun:test";
import { stripLogHeader } from "../../../../src/features/runs/job/log-header.ts";
import {
  type Answer,
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

export const SECRET = "open-sesame-4711";
const KEY = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n"quoted" = yes\n-----END KEY-----\n';

export let server: TestServer;
export let ask: Ask;

export const storeVariable = (to: Ask, name: string, value: string, is_secret = true) =>
  expectOk(
    to("POST", "/w/acme/variables/create", { path: `u/admin/${name}`, value, is_secret, description: "" }),
  );

/** Reads a variable in TypeScript, as existing clients do. */
export const READ_FUNCTION = `const read = async (path: string) => {
  const url = process.env.BASE_INTERNAL_URL + "/api/w/acme/variables/get_value/u/admin/" + path;
  const answer = await fetch(url, { headers: { authorization: "Bearer " + process.env.WM_TOKEN } });
  return answer.json() as Promise<string>;
};`;

export const PYTHON_READ = `import json, os, sys, time, urllib.request
def read(path):
    url = os.environ["BASE_INTERNAL_URL"] + "/api/w/acme/variables/get/u/admin/" + path
    request = urllib.request.Request(url, headers={"authorization": "Bearer " + os.environ["WM_TOKEN"]})
    return json.load(urllib.request.urlopen(request))["value"]
`;

export const BASH_READ = `read_secret() {
  address="\${BASE_INTERNAL_URL#http://}"
  exec 3<>"/dev/tcp/\${address%:*}/\${address#*:}"
  printf 'GET /api/w/acme/variables/get_value/u/admin/%s HTTP/1.1\\r\\nhost: svc\\r\\nconnection: close\\r\\nauthorization: Bearer %s\\r\\n\\r\\n' "$1" "$WM_TOKEN" >&3
  tail -n 1 <&3 | tr -d '"'
}
secret="$(read_secret secret)"
`;

let deployed = 0;
export async function deployNew(content: string, language = "bun"): Promise<string> {
  const path = `u/admin/prints_${++deployed}`;
  await deploy(ask, "acme", path, content, { language });
  return path;
}

export const logOf = async (id: string) =>
  stripLogHeader((await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text);

export async function run(path: string, args: object = {}) {
  const id = (await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, args))).text;
  const ended = await until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer : undefined;
  }, `job ${id}`);
  return { result: ended.json().result, log: await logOf(id) };
}

export const runNew = async (content: string, language?: string) => run(await deployNew(content, language));

interface Event {
  new_logs?: string;
  new_result_stream?: string;
  only_result?: unknown;
}

export async function eventsOf(asked: Promise<Answer>): Promise<Event[]> {
  const { text } = await expectOk(asked);
  return text
    .trim()
    .split("\n\n")
    .map((frame) => JSON.parse(frame.replace(/^data: /, "")));
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpSecrets(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
    await storeVariable(ask, "secret", SECRET);
    await storeVariable(ask, "key", KEY);
    await storeVariable(ask, "other", "never-read-by-jobs");
    await storeVariable(ask, "plain", "no secret at all", false);
  });
  afterAll(() => server.stop());
}
