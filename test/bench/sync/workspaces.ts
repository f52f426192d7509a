/**
 * `SVC_WORKSPACES=<folder> bun test/bench/sync/workspaces.ts [names…]`: pushes each repository of the folder (one with
 * a wmill.yaml in each subfolder) by `wmill` and by `svc push`, each into a server of its own, pulls it back into an
 * empty folder, compares, runs every script with arguments made from its schema, and prints a table. What differs and
 * what fails is listed on stderr. `WMILL` names an installed command line of the client, else it is installed. The
 * variables of pip (`PIP_INDEX_URL` …) name a Python index, else none is asked; `SVC_WITHOUT_LOCKS=1` leaves out the
 * locks of Python scripts, so that an index with other versions will do.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { installWmill } from "../../acceptance/clients/wmill/wmill.ts";
import { EXECUTABLE, startServer } from "../tools/processes.ts";
import { listDifferences } from "../tools/same-files.ts";

const PUSH_LIMIT_MS = 600_000;
const RUN_LIMIT_S = 60;
const RUNS_AT_ONCE = 4;
const REPOSITORIES_AT_ONCE = 4;

const folder = process.env.SVC_WORKSPACES ?? "";
if (!folder) throw new Error("SVC_WORKSPACES must name the folder with the repositories");
const given = process.argv.slice(2);
const names = given.length > 0 ? given : readdirSync(folder).sort();
const root = mkdtempSync(join(tmpdir(), "svc-workspaces-"));
const installed = process.env.WMILL ? undefined : await installWmill("1.819.0");
const wmill = installed?.main ?? process.env.WMILL!;

/** The Python index in pip's own variables; without them, no index is used. */
const indexSettings = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(?:PIP|UV)_/.test(name)),
);
const hasIndex = "PIP_INDEX_URL" in indexSettings;

type Client = "wmill" | "svc";
type Bench = Awaited<ReturnType<typeof startServer>>;

/** Outcome of a run. */
type End = "runs" | "account" | "index" | "fails";

interface Ended {
  code: number;
  text: string;
  /** Whether the time limit ended it: its output so far does not describe the rest. */
  killed: boolean;
}

async function run(command: string[], cwd: string): Promise<Ended> {
  // `wmill` installs the packages of a code app by npm, which must find its configuration with another HOME
  // too.
  const npmrc = process.env.NPM_CONFIG_USERCONFIG ?? join(homedir(), ".npmrc");
  const env = {
    ...process.env,
    HOME: root,
    NPM_CONFIG_USERCONFIG: npmrc,
    NO_COLOR: "1",
    GIT_CEILING_DIRECTORIES: root,
  };
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  let killed = false;
  const timer = setTimeout(() => {
    killed = true;
    child.kill();
  }, PUSH_LIMIT_MS);
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  clearTimeout(timer);
  return { code, text: Bun.stripANSI(out + err), killed };
}

/** Runs the client's push or pull in a folder. */
function sync(
  client: Client,
  verb: "push" | "pull",
  server: Bench,
  cwd: string,
  source: string,
): Promise<Ended> {
  const isThere = (pattern: string) => new Bun.Glob(pattern).scanSync({ cwd: source }).next().done === false;
  const settings = isThere("settings.yaml");
  if (client === "svc") {
    const at = ["--workspace", "acme", "--token", server.token, "--url", server.url];
    const options = ["--yes", "--secrets", "sealed", ...(settings ? ["--settings"] : [])];
    return run([EXECUTABLE, verb, ".", ...options, ...at], cwd);
  }
  const at = ["--workspace", "acme", "--token", server.token, "--base-url", server.url];
  const options = ["--yes", ...(settings ? ["--include-settings"] : [])];
  if (isThere("**/*.schedule.*")) options.push("--include-schedules");
  if (isThere("**/*_trigger.*")) options.push("--include-triggers");
  if (isThere("encryption_key.*")) options.push("--include-key");
  return run([process.execPath, wmill, "sync", verb, ...options, ...at], cwd);
}

interface Script {
  path: string;
  kind: string;
  language: string;
  no_main_func?: boolean;
  lock_error_logs?: string | null;
  schema?: { properties?: Record<string, Property> };
}

interface Property {
  type?: string;
  default?: unknown;
  enum?: unknown[];
}

/** A value of the schema's type, if the script has no default. */
function makeValue({ type, default: preset, enum: choices }: Property): unknown {
  if (preset !== undefined && preset !== null && preset !== "<function call>") return preset;
  if (choices) return choices[0];
  const values: Record<string, unknown> = {
    string: "a",
    integer: 1,
    number: 1,
    boolean: false,
    array: [],
    object: {},
  };
  return values[type ?? ""];
}

/** Errors of scripts that need a missing package index or registry. */
const WANTS_INDEX =
  /could not be (?:resolved|installed)|failed to resolve|No matching distribution|'pip', 'install'/;
/** Errors that svc causes: code that cannot be loaded or built, and exports that the module `wmill` lacks. */
const IS_OURS =
  /SyntaxError|ImportError|ModuleNotFoundError|ResolveMessage|BuildMessage|CompileError|standard library only|SandboxUnavailable|Internal|NotOffered|has no attribute|Cannot find (?:module|package)/;
/** Errors of scripts that need the author's own workspace or network. */
const WANTS_ACCOUNT =
  /Not found: (?:variable|resource)|getaddrinfo|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|CONNECTION_REFUSED|cannot connect|Unable to connect|name resolution|object storage configured|\b40[13]\b|credential/i;

/** A run that ends with an error of the script's own code counts as run. */
function classify(why: string): End {
  if (WANTS_INDEX.test(why)) return "index";
  if (IS_OURS.test(why)) return "fails";
  return WANTS_ACCOUNT.test(why) ? "account" : "runs";
}

async function runScript(server: Bench, path: string): Promise<{ end: End; why: string }> {
  const script = JSON.parse(await server.get(`/scripts/get/p/${path}`)) as Script;
  if (script.lock_error_logs) {
    return { end: WANTS_INDEX.test(script.lock_error_logs) ? "index" : "fails", why: script.lock_error_logs };
  }
  const properties = Object.entries(script.schema?.properties ?? {});
  const args = Object.fromEntries(properties.map(([name, property]) => [name, makeValue(property)]));
  const id = await server
    .post(`/jobs/run/p/${path}?timeout=${RUN_LIMIT_S}`, args)
    .catch((cause) => String(cause));
  if (!/^[0-9a-f-]{36}$/.test(id)) {
    return { end: WANTS_INDEX.test(id) ? "index" : "fails", why: id };
  }
  for (;;) {
    const state = JSON.parse(await server.get(`/jobs_u/completed/get_result_maybe/${id}?get_started=false`));
    if (!state.completed) {
      await Bun.sleep(100);
      continue;
    }
    if (state.success) return { end: "runs", why: "" };
    const why = JSON.stringify(state.result?.error ?? state.result);
    return { end: classify(why), why };
  }
}

async function runAll(server: Bench, name: string): Promise<Record<End | "scripts", number>> {
  const counts = { scripts: 0, runs: 0, account: 0, index: 0, fails: 0 };
  const listed: Script[] = [];
  for (let page = 1; ; page++) {
    const some = JSON.parse(await server.get(`/scripts/list?per_page=100&page=${page}`)) as Script[];
    listed.push(...some);
    if (some.length < 100) break;
  }
  const waiting = [...listed];
  const runNext = async (): Promise<void> => {
    const script = waiting.pop();
    if (!script) return;
    // A library has no `main`: it is run by its importers.
    const { end, why } = script.no_main_func
      ? { end: "runs" as const, why: "" }
      : await runScript(server, script.path);
    counts.scripts++;
    counts[end]++;
    if (why !== "") process.stderr.write(`  ${name} ${script.path}: ${end}: ${why.slice(0, 300)}\n`);
    return runNext();
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, runNext));
  return counts;
}

const withoutLocks = Boolean(process.env.SVC_WITHOUT_LOCKS);
const isPythonLock = (file: string) =>
  /\.lock$/.test(file) && existsSync(file.replace(/\.script\.lock$/, ".py"));
const isSent = (file: string) => !(/\/\.git$/.test(file) || (withoutLocks && isPythonLock(file)));

const rows = new Map<string, string>();
const total = { scripts: 0, runs: 0, account: 0, index: 0, fails: 0 };

async function measure(name: string): Promise<void> {
  const at = [join(folder, name, "windmill"), join(folder, name)].find((each) =>
    existsSync(join(each, "wmill.yaml")),
  );
  const source = at ?? join(folder, name);
  const cells: string[] = [];
  let counts: Awaited<ReturnType<typeof runAll>> | undefined;
  for (const client of ["wmill", "svc"] as const) {
    await using stack = new AsyncDisposableStack();
    const server = await startServer(
      {
        PATH: process.env.PATH ?? "",
        ...(process.env.CARGO_HOME && { CARGO_HOME: process.env.CARGO_HOME }),
        // Scripts are run after the push by svc only.
        ...(hasIndex && client === "svc" ? indexSettings : { PIP_NO_INDEX: "1" }),
      },
      { super_admin: true },
    );
    stack.defer(server.stop);
    const sent = join(root, client, name, "sent");
    const back = join(root, client, name, "back");
    cpSync(source, sent, { recursive: true, filter: isSent });
    mkdirSync(back, { recursive: true });
    if (existsSync(join(sent, "wmill.yaml"))) cpSync(join(sent, "wmill.yaml"), join(back, "wmill.yaml"));
    // `svc pull` has no flag for the key: it is written if the file exists, whatever its content.
    const key = join(back, "encryption_key.yaml");
    if (client === "svc" && existsSync(join(sent, "encryption_key.yaml"))) writeFileSync(key, "none\n");
    const pushed = await sync(client, "push", server, sent, sent);
    // `svc push` exits with 1 even if everything is stored, if an item cannot run. It names each such item.
    const refused =
      pushed.text.match(
        /^.*(?:Bad request|error:|Error parsing|could not be read|is not (?:YAML|JSON)).*$/gm,
      ) ?? [];
    const whole =
      pushed.code === 0 ||
      (client === "svc" &&
        pushed.code === 1 &&
        refused.length > 0 &&
        refused.every((line) =>
          /^stored but cannot run: |^error: \d+ of the \d+ changes? made cannot run yet/.test(line),
        ));
    const pulled = await sync(client, "pull", server, back, sent);
    const differences =
      pulled.code === 0 ? listDifferences(sent, back) : [`pull failed: ${pulled.text.slice(-300)}`];
    process.stderr.write(
      `${name} by ${client}: pushed ${pushed.killed ? "out of time" : pushed.code}, ${differences.length} differences\n`,
    );
    if (!whole)
      for (const line of refused.slice(0, 8)) process.stderr.write(`  refused: ${line.slice(0, 300)}\n`);
    for (const line of differences) process.stderr.write(`  differs: ${line.slice(0, 250)}\n`);
    cells.push(
      whole ? "yes" : pushed.killed ? "out of time" : "no",
      differences.length === 0 ? "yes" : String(differences.length),
    );
    if (client === "svc") counts = await runAll(server, name);
  }
  for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += counts![key];
  const { scripts, runs, account, index, fails } = counts!;
  const [pushedW, backW, pushedS, backS] = cells;
  rows.set(
    name,
    `| ${[name.replace("+", "/"), pushedW, pushedS, backW, backS, scripts, runs, account, index, fails].join(" | ")} |`,
  );
  process.stderr.write(`${rows.get(name)}\n`);
}
const waiting = [...names];
async function measureNext(): Promise<void> {
  const name = waiting.shift();
  if (name === undefined) return;
  await measure(name);
  return measureNext();
}
await Promise.all(Array.from({ length: REPOSITORIES_AT_ONCE }, measureNext));

const { scripts, runs, account, index, fails } = total;
const sum = `| ${["all", "", "", "", "", scripts, runs, account, index, fails].join(" | ")} |`;
console.log([...names.map((name) => rows.get(name)), sum].join("\n"));
rmSync(root, { recursive: true, force: true });
await installed?.[Symbol.asyncDispose]();
