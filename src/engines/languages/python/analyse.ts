import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Cache } from "../../../lib/async/cache.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { type AnalysisOwner, createAnalysisSlots } from "../analysis-slots.ts";
import { describeMissingTool, INSTALL_PYTHON } from "../missing-tool.ts";
import { type Parameter, type ScriptAnalysis, SyntaxFault, toArgumentsSchema } from "../types.ts";
import { findPython } from "./find-python.ts";
import inspector from "./inspect.py" with { type: "text" };
import { listRequirements, parseStatedRequirements, type StatedRequirements } from "./requirements.ts";

interface Inspection {
  error?: { line: number; column: number; message: string };
  parameters: Parameter[];
  has_main: boolean;
  preprocessor: Parameter[] | null;
  /** Workspace modules: relative ones with their dots, others starting with `f.` or `u.`. */
  imports: string[];
  /** Modules found neither in the standard library nor in the workspace. */
  third_party: string[];
  /** Reason why this Python could not parse everything. */
  warning: string | null;
}

/** Parsing is CPU-bound, so more interpreters than processors would only take memory. */
const interpreters = createAnalysisSlots(Math.min(4, availableParallelism()));

/** Timeout, so that one script does not block the others. */
const INSPECTION_TIMEOUT_MS = 30_000;

/**
 * What the interpreter printed, by workspace and hash of its input: importers of a script are analysed again with each
 * version of it.
 */
const inspections = new Cache<string>({ max: 2_000_000, weigh: (_, printed) => printed.length });

let program: Promise<string | undefined> | undefined;

/**
 * Returns the path of the interpreter itself: a shim of pyenv or asdf takes ten times as long to start as Python.
 * @throws BadRequest if there is none, which may change while the server runs
 */
async function findProgram(): Promise<string> {
  // A search that failed, as for want of memory, is made again.
  const known = await program?.catch(() => undefined);
  if (known !== undefined && existsSync(known)) return known;
  program = findPython().then((python) => python?.program);
  const found = await program;
  if (found === undefined) throw new BadRequest(describeMissingTool("python3", INSTALL_PYTHON));
  return found;
}

/**
 * Analyses `main` (or another function) and `preprocessor` with Python's own parser.
 * @throws SyntaxFault, BadRequest, TooManyRequests
 */
export async function analysePython(
  content: string,
  owner: AnalysisOwner,
  entrypoint = "main",
): Promise<ScriptAnalysis> {
  const stated = parseStatedRequirements(content);
  const input = JSON.stringify([owner.owner, content, entrypoint, stated.python]);
  const key = new Bun.CryptoHasher("sha256").update(input).digest("base64");
  const run = () =>
    interpreters.run(owner, async () => inspect(await findProgram(), content, entrypoint, stated.python));
  const printed = inspections.get(key) ?? (await inspections.load(key, run));
  return toAnalysis(JSON.parse(printed) as Inspection, stated);
}

/** Returns the JSON text of an `Inspection`. */
async function inspect(
  python: string,
  content: string,
  entrypoint: string,
  stated_version = "",
): Promise<string> {
  const child = Bun.spawn([python, "-I", "-c", inspector, entrypoint, stated_version], {
    stdin: new TextEncoder().encode(content),
    stdout: "pipe",
    stderr: "pipe",
    timeout: INSPECTION_TIMEOUT_MS,
    env: { PYTHONIOENCODING: "utf-8", PATH: process.env.PATH ?? "" },
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.signalCode !== null)
    throw new BadRequest(`python3 could not read the script within ${INSPECTION_TIMEOUT_MS / 1000} s`);
  if (code !== 0) throw new BadRequest(`python3 could not read the script: ${err.trim().split("\n").at(-1)}`);
  return out;
}

function toAnalysis(found: Inspection, stated: StatedRequirements): ScriptAnalysis {
  if (found.error) throw new SyntaxFault(found.error.line, found.error.column, found.error.message);
  const { parameters, has_main, preprocessor } = found;
  const requirements = listRequirements(stated, found.third_party);
  return {
    signature: { parameters, has_main, preprocessor: preprocessor ?? undefined },
    schema: toArgumentsSchema(parameters),
    imports: found.imports,
    packages: requirements.length > 0 ? { client: "pip", requirements, python: stated.python } : undefined,
    ...(found.warning ? { warning: found.warning } : {}),
  };
}
