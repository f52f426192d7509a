import { SyntaxFault } from "../types.ts";
import type { SyntaxCheck } from "./types.ts";

/** Timeout; what it has not found until then, the program reports when the script runs. */
const TIMEOUT_MS = 10_000;

/** Parses a script by its language's own tool, if the server has it. @throws SyntaxFault */
export async function requireValidSyntax(
  { command: [tool, ...argv], error }: SyntaxCheck,
  content: string,
): Promise<void> {
  const path = Bun.which(tool);
  if (!path) return;
  const child = Bun.spawn([path, ...argv], {
    // Options in a first line `#!` would be obeyed, and this runs outside of the sandbox.
    stdin: new TextEncoder().encode(content.replace(/^(\uFEFF?)#!/, "$1##")),
    stdout: "pipe",
    stderr: "pipe",
    timeout: TIMEOUT_MS,
    env: { LC_ALL: "C.UTF-8", PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/" },
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const found = code === 0 ? undefined : error.exec(`${err}\n${out}`)?.groups;
  if (found) throw new SyntaxFault(Number(found.line), Number(found.column ?? 1), found.message!);
}
