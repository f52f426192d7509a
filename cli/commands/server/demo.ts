import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chalk from "chalk";
import { createUser } from "../../../src/features/accounts/admin/operations.ts";
import { createTokenFor } from "../../../src/features/accounts/tokens/operations.ts";
import { createFlow } from "../../../src/features/code/flows/operations.ts";
import type { NewFlow } from "../../../src/features/code/flows/records.ts";
import { createScript } from "../../../src/features/code/scripts/operations.ts";
import { createWorkspace } from "../../../src/features/lifecycle/workspaces/operations.ts";
import { formatMilliseconds } from "../../../src/lib/async/duration.ts";
import { randomText } from "../../../src/lib/text/ids.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { connect } from "../../client/transport.ts";
// @ts-expect-error: read as text, not as a module
import countdown from "../../examples/countdown.ts" with { type: "text" };
import disk from "../../examples/disk.sh" with { type: "text" };
// @ts-expect-error: read as text, not as a module
import hello from "../../examples/hello.ts" with { type: "text" };
// @ts-expect-error: read as text, not as a module
import order from "../../examples/order.ts" with { type: "text" };
import orders from "../../examples/orders.yaml" with { type: "text" };
// @ts-expect-error: read as text, not as a module
import teapot from "../../examples/teapot.ts" with { type: "text" };
import words from "../../examples/words.py" with { type: "text" };
import { examples, leaf } from "../../program/command.ts";
import { wholeNumber } from "../../program/options.ts";
import { EXIT } from "../../terminal/text/failure.ts";
import { print, printJson } from "../../terminal/text/output.ts";

interface DemoOptions {
  exit?: boolean;
  port?: string;
  dataDir?: string;
  json?: boolean;
}

type Say = (text: string) => void;

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

export default leaf("demo", "start a server with examples and call their webhooks", "nothing")
  .option("--data-dir <folder>", "keep the data there (default: a temporary folder, removed at the end)")
  .option("--exit", "stop the server after the calls; exit 1 if one went wrong")
  .option(
    "--port <number>",
    "port to listen on; 0 picks a free one (default 8000, or a free one if that is taken)",
  )
  .addHelpText("after", examples("svc demo", "svc demo --exit"))
  .action(async (options: DemoOptions) => {
    const port = options.port === undefined ? undefined : wholeNumber("--port", options.port, 65_535);
    const stopped = new Promise<void>((resolve) => {
      process.once("SIGINT", () => resolve());
      process.once("SIGTERM", () => resolve());
    });
    const data_dir = options.dataDir ?? mkdtempSync(join(tmpdir(), "svc-demo-"));
    try {
      const server = await start(data_dir, port);
      try {
        const shown = show(server.url, data_dir, options);
        await Promise.race([options.exit ? shown : shown.then(() => stopped), stopped]);
      } finally {
        await server.stop();
      }
    } finally {
      if (options.dataDir === undefined) rmSync(data_dir, { recursive: true, force: true });
    }
  });

async function show(url: string, data_dir: string, options: DemoOptions): Promise<void> {
  const say: Say = options.json ? () => {} : print;
  const password = randomText(12);
  const token = await setUp(data_dir, password);
  say(`${chalk.bold("svc demo")}: a server on ${url}, with the examples in workspace "${WORKSPACE}"\n`);
  const calls = await callAll(`${url}/api/w/${WORKSPACE}/jobs`, token, say);
  if (!calls.every(({ ok }) => ok)) process.exitCode = EXIT.failed;
  if (options.json) printJson({ url, workspace: WORKSPACE, email: EMAIL, password, token, calls });
  else if (!options.exit) tellHowToGoOn(url, password, token);
}

async function start(data_dir: string, port: number | undefined) {
  const { startServer } = await import("../../../src/server/server.ts");
  const config = (number: number | undefined) => loadConfig({ data_dir, port: number, log_level: "error" });
  try {
    return await startServer(config(port));
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
    const { parse } = await import("yaml");
    const flow = {
      ...(parse(orders) as { summary: string; value: NewFlow["value"] }),
      path: "u/admin/orders",
    };
    await client.call(createFlow, { workspace: WORKSPACE, body: flow as NewFlow });
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
      title: "A flow: a loop over a script, in parallel, and a script of its own",
      path: "run_wait_result/f/u/admin/orders",
      body: {
        orders: [
          { customer: "ACME", items: [{ sku: "A1", price: 9.5, quantity: 2 }] },
          { customer: "Initech", items: [{ sku: "B2", price: 1 }] },
        ],
      },
      status: 200,
      holds: "2 orders, 20.00 EUR in all",
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

interface Call {
  title: string;
  status: number;
  ok: boolean;
  ms: number;
  answer: string;
}

async function callAll(base: string, token: string, say: Say): Promise<Call[]> {
  const calls: Call[] = [];
  for (const step of steps()) calls.push(await callOne(base, token, step, say));
  const asynchronous: Step = {
    title: "Asynchronous: the answer is the job's id, at once",
    path: "run/p/u/admin/hello",
    body: { name: "later" },
    status: 201,
    holds: "-",
  };
  const submitted = await callOne(base, token, asynchronous, say);
  const result: Step = {
    title: "… and its result, when it is there",
    path: `completed/get_result_maybe/${submitted.answer}`,
    method: "GET",
    status: 200,
    holds: "Hello, later!",
  };
  const results = base.replace(/jobs$/, "jobs_u");
  if (submitted.ok) await waitCompleted(`${results}/${result.path}`, token);
  return [...calls, submitted, await callOne(results, token, result, say)];
}

const POLL_MS = 20;
const GIVE_UP_MS = 10_000;

/** Asks until the job is done, so that the call that is shown has a result to show. */
async function waitCompleted(url: string, token: string): Promise<void> {
  for (const end = Date.now() + GIVE_UP_MS; Date.now() < end; await Bun.sleep(POLL_MS)) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const { completed } = (await response.json()) as { completed?: boolean };
    if (completed) return;
  }
}

async function callOne(base: string, token: string, step: Step, say: Say): Promise<Call> {
  const method = step.method ?? "POST";
  const body = step.body === undefined ? undefined : JSON.stringify(step.body);
  const url = `${base}/${step.path}`;
  const streaming = step.path.startsWith("run_and_stream");
  say(chalk.bold(step.title));
  say(chalk.dim(curlLine(url, body, token, streaming)));
  const began = performance.now();
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body } : {}),
  });
  const answer = (await response.text()).trim();
  const ms = performance.now() - began;
  const ok = response.status === step.status && answer.includes(step.holds);
  say(
    `${answer}\n${ok ? chalk.green(`✓ ${response.status}`) : chalk.red(`✗ ${response.status}, not as expected`)} in ${formatMilliseconds(ms)}\n`,
  );
  return { title: step.title, status: response.status, ok, ms: Math.round(ms), answer };
}

function curlLine(url: string, body: string | undefined, token: string, streaming: boolean): string {
  const data = body === undefined ? "" : ` \\\n  -H 'Content-Type: application/json' -d '${body}'`;
  return `curl -s${streaming ? "N" : ""} '${url}' \\\n  -H 'Authorization: Bearer ${token}'${data}`;
}

function tellHowToGoOn(url: string, password: string, token: string): void {
  print(chalk.bold("The server keeps running. Log in as its admin:"));
  print(`  curl -s '${url}/api/auth/login' \\`);
  print(`    -H 'Content-Type: application/json' \\`);
  print(`    -d '{"email":"${EMAIL}","password":"${password}"}'`);
  print(`or use the token ${token}`);
  print(chalk.dim("Ctrl-C stops the server and removes its data."));
}
