import { availableParallelism } from "node:os";
import { createSlots } from "../../../lib/async/slots.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { type Parameter, type ScriptAnalysis, SyntaxFault, toArgumentsSchema } from "../types.ts";
import inspector from "./inspect.py" with { type: "text" };
import { readStated, requirementsOf } from "./requirements.ts";

interface Inspection {
  error?: { line: number; column: number; message: string };
  parameters: Parameter[];
  has_main: boolean;
  preprocessor: Parameter[] | null;
  /** Modules of the workspace: relative ones with their dots, others from `f.` or `u.` on. */
  imports: string[];
  /** Modules that neither the standard library nor the workspace has. */
  third_party: string[];
  /** Why this Python could not read all of it. */
  warning: string | null;
}

/** Reading takes a processor's time: more interpreters at once than there are processors only take memory. */
const interpreters = createSlots(Math.min(4, availableParallelism()));

/** One that takes longer must not hold the others up. */
const READ_LIMIT_MS = 30_000;

/** The signatures of `main` (or another function) and `preprocessor`, read by Python's own parser. */
export async function analysePython(content: string, entrypoint = "main"): Promise<ScriptAnalysis> {
  const python = Bun.which("python3");
  if (!python) {
    throw new BadRequest(
      "python3 is not installed on this server: Python scripts cannot be deployed or run",
      {
        hint: "install Python 3.8 or newer where the server finds it on its PATH",
      },
    );
  }
  return interpreters.run(() => read(python, content, entrypoint));
}

async function read(python: string, content: string, entrypoint: string): Promise<ScriptAnalysis> {
  const stated = readStated(content);
  const child = Bun.spawn([python, "-I", "-c", inspector, entrypoint, stated.python ?? ""], {
    stdin: new TextEncoder().encode(content),
    stdout: "pipe",
    stderr: "pipe",
    timeout: READ_LIMIT_MS,
    env: { PYTHONIOENCODING: "utf-8", PATH: process.env.PATH ?? "" },
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.signalCode !== null)
    throw new BadRequest(`python3 could not read the script within ${READ_LIMIT_MS / 1000} s`);
  if (code !== 0) throw new BadRequest(`python3 could not read the script: ${err.trim().split("\n").at(-1)}`);
  const found = JSON.parse(out) as Inspection;
  if (found.error) throw new SyntaxFault(found.error.line, found.error.column, found.error.message);
  const { parameters, has_main, preprocessor } = found;
  const requirements = requirementsOf(stated, found.third_party);
  return {
    signature: { parameters, has_main, preprocessor: preprocessor ?? undefined },
    schema: toArgumentsSchema(parameters),
    imports: found.imports,
    packages: requirements.length > 0 ? { client: "pip", requirements, python: stated.python } : undefined,
    ...(found.warning ? { warning: found.warning } : {}),
  };
}
