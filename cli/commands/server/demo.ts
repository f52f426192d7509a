import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chalk from "chalk";
import type { NewFlow } from "../../../src/features/code/flows/records.ts";
import { createRandomText } from "../../../src/lib/text/ids.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { createTokenFor, createUser } from "../../client/operations/accounts.ts";
import { createFlow, createScript } from "../../client/operations/code.ts";
import { createWorkspace } from "../../client/operations/lifecycle.ts";
import { connectToService } from "../../client/transport.ts";
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
import { createCommand, formatExamples } from "../../program/command.ts";
import { parseWholeNumber } from "../../program/options.ts";
import { EXIT_CODES } from "../../terminal/text/failure.ts";
import { print, printJson } from "../../terminal/text/output.ts";
import { callAll, hasInterpreter, type PrintLine } from "./demo/calls.ts";

interface DemoOptions {
  exit?: boolean;
  port?: string;
  dataDir?: string;
  json?: boolean;
}

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

export default createCommand("demo", "start a server with examples and call their webhooks", "nothing")
  .option("--data-dir <folder>", "keep the data there (default: a temporary folder, removed at the end)")
  .option("--exit", "stop the server after the calls; exit 1 if one went wrong")
  .option(
    "--port <number>",
    "port to listen on; 0 picks a free one (default 8000, or a free one if that is in use)",
  )
  .addHelpText("after", formatExamples("svc demo", "svc demo --exit"))
  .action(async (options: DemoOptions) => {
    const port = options.port === undefined ? undefined : parseWholeNumber("--port", options.port, 65_535);
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
  const say: PrintLine = options.json ? () => {} : print;
  const password = createRandomText(12);
  const token = await setUp(data_dir, password);
  say(`${chalk.bold("svc demo")}: a server on ${url}, with the examples in workspace "${WORKSPACE}"\n`);
  const calls = await callAll(`${url}/api/w/${WORKSPACE}/jobs`, token, say);
  if (!calls.every(({ ok }) => ok)) process.exitCode = EXIT_CODES.failed;
  if (options.json) printJson({ url, workspace: WORKSPACE, email: EMAIL, password, token, calls });
  else if (!options.exit) printNextSteps(url, password, token);
}

async function start(data_dir: string, port: number | undefined) {
  const { startServer } = await import("../../../src/server/server.ts");
  const config = (number: number | undefined) => loadConfig({ data_dir, port: number, log_level: "error" });
  try {
    return await startServer(config(port));
  } catch (cause) {
    if (port !== undefined || !(cause as Error).message.includes("is in use")) throw cause;
    return startServer(config(0));
  }
}

/** Sets up a new server with the operations an admin would use. @returns a token of the new admin */
async function setUp(data_dir: string, password: string): Promise<string> {
  const client = await connectToService({ data_dir });
  try {
    await client.call(createUser, { body: { email: EMAIL, password, super_admin: true, username: "admin" } });
    await client.call(createWorkspace, { body: { id: WORKSPACE, name: "Demo", owner: EMAIL } });
    for (const { name, language, summary, content } of EXAMPLES) {
      if (!hasInterpreter(language)) continue;
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

function printNextSteps(url: string, password: string, token: string): void {
  print(chalk.bold("The server keeps running. Next, in a browser or another terminal:"));
  print(`  ${url}    the console: log in as ${EMAIL}, password ${password}`);
  print(`  ${url}/api/docs    its operations; token ${token}`);
  print(`  echo ${password} | svc login ${url} --email ${EMAIL} --password-stdin`);
  print("  svc script list, svc script show u/admin/hello    the examples and their code");
  print("  svc logout    ends that login");
  print(chalk.dim("Ctrl-C stops the server and removes its data."));
}
