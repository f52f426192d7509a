/** The calls of the examples that `svc demo` makes, each printed with its response. */

import chalk from "chalk";
import { formatMilliseconds } from "../../../../src/lib/async/duration.ts";
import { sleep } from "../../../../src/lib/async/sleep.ts";

/** Prints a text to the user of the demo. */
export type PrintLine = (text: string) => void;

/** Whether the machine has the interpreter of a language, which is named like its program; svc brings that of `bun`. */
export const hasInterpreter = (language: string) => language === "bun" || Bun.which(language) !== null;

interface DemoStep {
  title: string;
  /** Language of the script, if svc does not bring its interpreter. */
  language?: string;
  path: string;
  method?: "GET";
  body?: unknown;
  status: number;
  /** Text that the response must contain. */
  holds: string;
}

function createSteps(): DemoStep[] {
  return [
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
      language: "bash",
      path: "run_wait_result/p/u/admin/disk",
      body: { folder: "/" },
      status: 200,
      holds: "used",
    },
    {
      title: "A Python script",
      language: "python3",
      path: "run_wait_result/p/u/admin/words",
      body: { text: "The quick fox and the lazy dog and the cat" },
      status: 200,
      holds: '"the"',
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
}

interface Call {
  title: string;
  status: number;
  ok: boolean;
  ms: number;
  answer: string;
}

/** Calls every example. @param base the URL of the workspace's jobs */
export async function callAll(base: string, token: string, say: PrintLine): Promise<Call[]> {
  const calls: Call[] = [];
  for (const step of createSteps()) {
    const { title, language = "bun" } = step;
    if (hasInterpreter(language)) calls.push(await callOne(base, token, step, say));
    else say(`${chalk.bold(title)}\n${chalk.dim(`left out: ${language} is not installed`)}\n`);
  }
  const asynchronous: DemoStep = {
    title: "Asynchronous: the answer is the job's id, at once",
    path: "run/p/u/admin/hello",
    body: { name: "later" },
    status: 201,
    holds: "-",
  };
  const submitted = await callOne(base, token, asynchronous, say);
  const result: DemoStep = {
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

const POLL_INTERVAL_MS = 20;
const COMPLETION_TIMEOUT_MS = 10_000;

/** Polls until the job is completed, so that the shown call has a result. */
async function waitCompleted(url: string, token: string): Promise<void> {
  for (const end = Date.now() + COMPLETION_TIMEOUT_MS; Date.now() < end; await sleep(POLL_INTERVAL_MS)) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const { completed } = (await response.json()) as { completed?: boolean };
    if (completed) return;
  }
}

async function callOne(base: string, token: string, step: DemoStep, say: PrintLine): Promise<Call> {
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
