/**
 * Node-RED and n8n beside us, each with a webhook that runs two lines of JavaScript, fetched from npm into a temporary
 * folder. `bun run bench --peers` asks for them, since n8n is two gigabytes and takes minutes.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/peers/postgres-server.ts";
import { stop } from "./processes.ts";

export interface WorkflowPeer {
  name: string;
  /** POST of `{"name":…}` to this URL returns `{"hello":…}`. */
  url: string;
  stop: () => Promise<void>;
}

const START_TIMEOUT_MS = 120_000;
/** n8n needs a newer version than some machines have. */
const NODE = "22.21.1";

/** Packages that packages of n8n expect beside them; it does not start with other versions. */
const PEERS_OF_N8N = { "@opentelemetry/api": "1.9.0", "@opentelemetry/core": "2.1.0" };

/** Installs packages. @throws if they are unavailable */
async function install(name: string, manifest: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `svc-bench-${name}-`));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, ...manifest }));
  const npm = Bun.spawn(["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps"], {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
  });
  if ((await npm.exited) === 0) return folder;
  const text = await new Response(npm.stderr).text();
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`${name} cannot be installed: ${text.slice(-500)}`);
}

/** Waits until a webhook answers. */
async function untilAnswered(url: string): Promise<void> {
  const end = performance.now() + START_TIMEOUT_MS;
  let last: unknown;
  while (performance.now() < end) {
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"name":"Bob"}',
      });
      last = await answer.text();
      if (answer.ok && String(last).includes("Bob")) return;
    } catch (cause) {
      last = cause;
    }
    await Bun.sleep(200);
  }
  throw new Error(`${url} did not answer: ${last}`);
}

/** Runs a command to its end. @throws an error with its output if it fails */
async function run(command: string[], cwd: string, env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(command, { cwd, env, stdout: "pipe", stderr: "pipe" });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) === 0) return;
  throw new Error(`${command.join(" ")}: ${text}${await new Response(child.stderr).text()}`);
}

async function serve(
  name: string,
  folder: string,
  command: string[],
  env: Record<string, string>,
  url: string,
): Promise<WorkflowPeer> {
  const child = Bun.spawn(command, { cwd: folder, env, stdout: "ignore", stderr: "ignore" });
  const end = async () => {
    await stop(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilAnswered(url);
  } catch (cause) {
    await end();
    throw cause;
  }
  return { name, url, stop: end };
}

export async function startNodeRed(): Promise<WorkflowPeer> {
  const folder = await install("node-red", { dependencies: { "node-red": "4.1.8" } });
  const port = await freePort();
  const wires = (id: string) => [[id]];
  const flow = [
    { id: "tab", type: "tab", label: "hook" },
    { id: "in", z: "tab", type: "http in", url: "/hook", method: "post", wires: wires("code") },
    {
      id: "code",
      z: "tab",
      type: "function",
      func: "msg.payload = { hello: msg.payload.name };\nreturn msg;",
      outputs: 1,
      wires: wires("out"),
    },
    { id: "out", z: "tab", type: "http response", statusCode: "200", wires: [] },
  ];
  writeFileSync(join(folder, "flows.json"), JSON.stringify(flow));
  writeFileSync(
    join(folder, "settings.js"),
    `module.exports = { uiPort: ${port}, uiHost: "127.0.0.1", flowFile: "flows.json", httpAdminRoot: false, logging: { console: { level: "off" } } };`,
  );
  const command = ["node", "node_modules/node-red/red.js", "--userDir", folder, "--settings", "settings.js"];
  const env = { PATH: process.env.PATH!, HOME: folder };
  return serve("Node-RED", folder, command, env, `http://127.0.0.1:${port}/hook`);
}

export async function startN8n(): Promise<WorkflowPeer> {
  const folder = await install("n8n", {
    overrides: { xlsx: "0.18.5", "@langchain/core": "1.4.0" },
    dependencies: { n8n: "2.8.4", node: NODE, ...PEERS_OF_N8N },
  });
  const port = await freePort();
  const node = (name: string, type: string, version: number, parameters: object, x: number) => ({
    id: name.toLowerCase(),
    name,
    type: `n8n-nodes-base.${type}`,
    typeVersion: version,
    position: [x, 0],
    parameters,
  });
  const webhook = { httpMethod: "POST", path: "hook", responseMode: "lastNode", options: {} };
  const code = { jsCode: "const { name } = $input.first().json.body;\nreturn [{ json: { hello: name } }];" };
  const workflow = {
    id: "benchhook0000001",
    name: "hook",
    active: true,
    nodes: [
      { ...node("Webhook", "webhook", 2, webhook, 0), webhookId: "hook" },
      node("Code", "code", 2, code, 200),
    ],
    connections: { Webhook: { main: [[{ node: "Code", type: "main", index: 0 }]] } },
    settings: { executionOrder: "v1" },
  };
  writeFileSync(join(folder, "workflow.json"), JSON.stringify([workflow]));
  const env = {
    PATH: `${join(folder, "node_modules/.bin")}:${process.env.PATH}`,
    HOME: folder,
    N8N_USER_FOLDER: folder,
    N8N_PORT: String(port),
    N8N_LISTEN_ADDRESS: "127.0.0.1",
    N8N_DIAGNOSTICS_ENABLED: "false",
    N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
    N8N_TEMPLATES_ENABLED: "false",
  };
  const n8n = ["node", "node_modules/n8n/bin/n8n"];
  try {
    await run([...n8n, "import:workflow", "--input=workflow.json"], folder, env);
    await run([...n8n, "publish:workflow", `--id=${workflow.id}`], folder, env);
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw cause;
  }
  return serve("n8n", folder, [...n8n, "start"], env, `http://127.0.0.1:${port}/webhook/hook`);
}
