import { availableParallelism } from "node:os";
import { type AnalysisOwner, createAnalysisSlots } from "../analysis-slots.ts";
import { SyntaxFault } from "../types.ts";
import type { SyntaxCheck } from "./types.ts";

/** Timeout; what it has not found until then, the program reports when the script runs. */
const TIMEOUT_MS = 2_000;
/** Longer scripts are not checked: some parsers need time that grows with the square of the length. */
const MAX_CHARACTERS = 200_000;
const parsers = createAnalysisSlots(Math.min(4, availableParallelism()));

/** Parses a script by its language's own tool, if the server has it. @throws SyntaxFault, TooManyRequests */
export async function requireValidSyntax(
  check: SyntaxCheck,
  content: string,
  owner: AnalysisOwner,
): Promise<void> {
  const path = Bun.which(check.command[0]);
  if (!path || content.length > MAX_CHARACTERS) return;
  const fault = await parsers.run(owner, () => findFault(path, check, content));
  if (fault) throw fault;
}

async function findFault(
  path: string,
  { command: [, ...argv], error }: SyntaxCheck,
  content: string,
): Promise<SyntaxFault | undefined> {
  const child = Bun.spawn([path, ...argv], {
    // Options in a first line `#!` would be obeyed, and this runs outside of the sandbox.
    stdin: new TextEncoder().encode(content.replace(/^(\uFEFF?)#!/, "$1##")),
    stdout: "pipe",
    stderr: "pipe",
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
    env: { LC_ALL: "C.UTF-8", PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/" },
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const found = code === 0 ? undefined : error.exec(`${err}\n${out}`)?.groups;
  return found && new SyntaxFault(Number(found.line), Number(found.column ?? 1), found.message!);
}
