import { availableParallelism } from "node:os";
import { createSlots } from "../../../lib/async/slots.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { describeMissingTool, INSTALL_PYTHON } from "../missing-tool.ts";
import { type Parameter, type ScriptAnalysis, SyntaxFault, toArgumentsSchema } from "../types.ts";
import inspector from "./inspect.py" with { type: "text" };
import { listRequirements, parseStatedRequirements } from "./requirements.ts";

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
const interpreters = createSlots(Math.min(4, availableParallelism()));

/** Timeout, so that one script does not block the others. */
const INSPECTION_TIMEOUT_MS = 30_000;

/** Analyses `main` (or another function) and `preprocessor` with Python's own parser. */
export async function analysePython(content: string, entrypoint = "main"): Promise<ScriptAnalysis> {
  const python = Bun.which("python3");
  if (!python) {
    throw new BadRequest(describeMissingTool("python3", INSTALL_PYTHON));
  }
  return interpreters.run(() => inspect(python, content, entrypoint));
}

async function inspect(python: string, content: string, entrypoint: string): Promise<ScriptAnalysis> {
  const stated = parseStatedRequirements(content);
  const child = Bun.spawn([python, "-I", "-c", inspector, entrypoint, stated.python ?? ""], {
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
  const found = JSON.parse(out) as Inspection;
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
