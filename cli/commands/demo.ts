import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chalk from "chalk";
import { loadConfig } from "../../src/config.ts";
import { createScript } from "../../src/features/scripts/operations.ts";
import { createTokenFor } from "../../src/features/tokens/operations.ts";
import { createUser } from "../../src/features/users/operations.ts";
import { createWorkspace } from "../../src/features/workspaces/operations.ts";
import { formatMilliseconds } from "../../src/lib/duration.ts";
import { randomText } from "../../src/lib/ids.ts";
import { examples, leaf } from "../command.ts";
// @ts-expect-error: read as text, not as a module
import countdown from "../examples/countdown.ts" with { type: "text" };
import disk from "../examples/disk.sh" with { type: "text" };
// @ts-expect-error: read as text, not as a module
import hello from "../examples/hello.ts" with { type: "text" };
// @ts-expect-error: read as text, not as a module
import order from "../examples/order.ts" with { type: "text" };
// @ts-expect-error: read as text, not as a module
import teapot from "../examples/teapot.ts" with { type: "text" };
import words from "../examples/words.py" with { type: "text" };
import { EXIT } from "../terminal/failure.ts";
import { print } from "../terminal/output.ts";
import { connect } from "../transport.ts";

interface Example {
  name: string;
  language: "bun" | "bash" | "python3";
  summary: string;
  content: string;
}

const EXAMPLES: Example[] = [
  { name: "hello", language: "bun", summary: "Says hello", content: hello as unknown as string },
  { name: "order", language: "bun", summary: "Adds up an order", content: order as unknown as string },
  {
    name: "teapot",
    language: "bun",
    summary: "Chooses its own HTTP answer",
    content: teapot as unknown as string,
  },
  {
    name: "countdown",
    language: "bun",
    summary: "Streams a countdown",
    content: countdown as unknown as string,
  },
  { name: "disk", language: "bash", summary: "Tells how full a disk is", content: disk },
  { name: "words", language: "python3", summary: "Counts words", content: words },
];

const EMAIL = "admin@example.org";
const WORKSPACE = "demo";

export default leaf("demo", "start a server with examples and call their webhooks")
  .option("--exit", "stop the server after the calls; exit 1 if one went wrong")
  .option(
    "--port <number>",
    "port to listen on; 0 picks a free one (default 8000, or a free one if that is taken)",
  )
  .addHelpText("after", examples("svc demo", "svc demo --exit"))
  .action(async (options: { exit?: boolean; port?: string; dataDir?: string }) => {
    const data_dir = options.dataDir ?? mkdtempSync(join(tmpdir(), "svc-demo-"));
    const server = await start(data_dir, options.port);
    let failures = 0;
    try {
      const password = randomText(12);
      const token = await setUp(data_dir, password);
      print(
        `${chalk.bold("svc demo")}: a server on ${server.url}, workspace "${WORKSPACE}", with ${EXAMPLES.length} example scripts\n`,
      );
      failures = await callAll(`${server.url}/api/w/${WORKSPACE}/jobs`, token);
      if (!options.exit) await leaveRunning(server.url, password, token);
    } finally {
      await server.stop();
      if (options.dataDir === undefined) rmSync(data_dir, { recursive: true, force: true });
    }
    if (failures > 0) process.exitCode = EXIT.failed;
  });

async function start(data_dir: string, port: string | undefined) {
  const { startServer } = await import("../../src/server.ts");
  const config = (number: number | undefined) => loadConfig({ data_dir, port: number, log_level: "error" });
  try {
    return await startServer(config(port === undefined ? undefined : Number(port)));
  } catch (cause) {
    if (port !== undefined || !(cause as Error).message.includes("is taken")) throw cause;
    return startServer(config(0));
  }
}

/** What an operator does on a new server, by the same operations. @returns a token of the new admin */
async function setUp(data_dir: string, password: string): Promise<string> {
  const client = await connect({ data_dir });
  try {
    await client.call(createUser, { body: { email: EMAIL, password, super_admin: true, username: "admin" } });
    await client.call(createWorkspace, { body: { id: WORKSPACE, name: "Demo", owner: EMAIL } });
    for (const { name, language, summary, content } of EXAMPLES) {
      if (language === "python3" && !Bun.which("python3")) continue;
      const body = { path: `u/admin/${name}`, language, summary, content };
      await client.call(createScript, { workspace: WORKSPACE, body });
    }
    return await client.call(createTokenFor, { body: { impersonate_email: EMAIL, label: "demo" } });
  } finally {
    await client.close();
  }
}

interface Step {
  title: string;
  path: string;
  method?: "GET";
  body?: unknown;
  status: number;
  /** What the answer must hold. */
  holds: string;
}

function steps(): Step[] {
  const list: Step[] = [
    {
      title: "Synchronous: the answer is the result",
      path: "run_wait_result/p/u/admin/hello",
      body: { name: "World" },
      status: 200,
      holds: "Hello, World!",
    },
    {
      title: "Again: the process is warm now",
      path: "run_wait_result/p/u/admin/hello",
      body: { name: "again" },
      status: 200,
      holds: "Hello, again!",
    },
    {
      title: "Typed arguments, defaults kept",
      path: "run_wait_result/p/u/admin/order",
      body: {
        customer: "ACME",
        items: [
          { sku: "A1", price: 9.5, quantity: 2 },
          { sku: "B2", price: 1 },
        ],
      },
      status: 200,
      holds: '"total":20',
    },
    {
      title: "A bash script",
      path: "run_wait_result/p/u/admin/disk",
      body: { folder: "/" },
      status: 200,
      holds: "used",
    },
    {
      title: "The script chooses status, headers and content type",
      path: "run_wait_result/p/u/admin/teapot",
      body: { name: "Ann" },
      status: 418,
      holds: "I am a teapot",
    },
    {
      title: "Streaming: server-sent events as the script makes them",
      path: "run_and_stream/p/u/admin/countdown",
      body: { from: 3 },
      status: 200,
      holds: "lift-off",
    },
  ];
  if (Bun.which("python3")) {
    list.splice(3, 0, {
      title: "A Python script",
      path: "run_wait_result/p/u/admin/words",
      body: { text: "The quick fox and the lazy dog and the cat" },
      status: 200,
      holds: '"the"',
    });
  }
  return list;
}

/** @returns how many calls were not as expected */
async function callAll(base: string, token: string): Promise<number> {
  let failures = 0;
  for (const step of steps()) if (!(await callOne(base, token, step)).ok) failures++;
  const { ok, text: id } = await callOne(base, token, {
    title: "Asynchronous: the answer is the job's id, at once",
    path: "run/p/u/admin/hello",
    body: { name: "later" },
    status: 201,
    holds: "-",
  });
  if (!ok) return failures + 1;
  const result = await callOne(base.replace(/jobs$/, "jobs_u"), token, {
    title: "… and its result, when it is there",
    path: `completed/get_result_maybe/${id}`,
    method: "GET",
    status: 200,
    holds: "Hello, later!",
  });
  return failures + (result.ok ? 0 : 1);
}

async function callOne(base: string, token: string, step: Step): Promise<{ ok: boolean; text: string }> {
  const method = step.method ?? "POST";
  const body = step.body === undefined ? undefined : JSON.stringify(step.body);
  const url = `${base}/${step.path}`;
  const streaming = step.path.startsWith("run_and_stream");
  print(chalk.bold(step.title));
  print(chalk.dim(curlLine(url, body, token, streaming)));
  const began = performance.now();
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body } : {}),
  });
  const text = (await response.text()).trim();
  const took = formatMilliseconds(performance.now() - began);
  const ok = response.status === step.status && text.includes(step.holds);
  print(
    `${text}\n${ok ? chalk.green(`✓ ${response.status}`) : chalk.red(`✗ ${response.status}, not as expected`)} in ${took}\n`,
  );
  return { ok, text };
}

function curlLine(url: string, body: string | undefined, token: string, streaming: boolean): string {
  const data = body === undefined ? "" : ` \\\n  -H 'Content-Type: application/json' -d '${body}'`;
  return `curl -s${streaming ? "N" : ""} '${url}' \\\n  -H 'Authorization: Bearer ${token}'${data}`;
}

async function leaveRunning(url: string, password: string, token: string): Promise<void> {
  print(chalk.bold("The server goes on. Log in as its admin:"));
  print(`  curl -s '${url}/api/auth/login' -H 'Content-Type: application/json' \\`);
  print(`    -d '{"email":"${EMAIL}","password":"${password}"}'`);
  print(`or use the token ${token}`);
  print(chalk.dim("Ctrl-C stops the server and removes its data."));
  await new Promise<void>((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
}
