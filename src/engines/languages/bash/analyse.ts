import { availableParallelism } from "node:os";
import { BadRequest } from "../../../lib/errors.ts";
import { type AnalysisOwner, createAnalysisSlots } from "../analysis-slots.ts";
import { describeMissingTool, INSTALL_BASH } from "../missing-tool.ts";
import { type Parameter, type ScriptAnalysis, SyntaxFault, toArgumentsSchema } from "../types.ts";

/**
 * Convention for a script's arguments: `name="$1"`, `name="${2}"`, `name="${3:-default}"` at the start of a line.
 * Without braces bash reads a single digit.
 */
const ARGUMENT = /^([A-Za-z_]\w*)=(?:"\$(?:(\d)|\{(\d{1,2})(?::-([^}]*))?\})"|\$(\d))\s*(?:#.*)?$/;

/** Checks of the syntax at once. */
const checks = createAnalysisSlots(Math.min(4, availableParallelism()));
/** Timeout of a check, so that one script does not keep a slot. */
const CHECK_TIMEOUT_MS = 30_000;

/** Converts the line ends of Windows, which bash takes for a part of the last word. */
export const toUnixLines = (content: string) => content.replaceAll("\r\n", "\n");

/**
 * Reads arguments by the convention above; bash itself checks the syntax, without running anything.
 * @throws SyntaxFault, BadRequest, TooManyRequests
 */
export async function analyseBash(content: string, owner: AnalysisOwner): Promise<ScriptAnalysis> {
  await checks.run(owner, () => requireValidSyntax(toUnixLines(content)));
  const byPosition = new Map<number, Parameter>();
  for (const line of content.split(/\r?\n/)) {
    const match = ARGUMENT.exec(line);
    if (!match) continue;
    const position = Number(match[2] ?? match[3] ?? match[5]);
    const initial = match[4];
    if (position < 1 || byPosition.has(position)) continue;
    byPosition.set(position, {
      name: match[1]!,
      kind: "positional",
      schema: { type: "string", ...(initial === undefined ? {} : { default: initial }) },
      optional: initial !== undefined,
      default: initial,
    });
  }
  const parameters: Parameter[] = [];
  for (let position = 1; position <= Math.max(0, ...byPosition.keys()); position++) {
    parameters.push(
      byPosition.get(position) ?? {
        name: `arg${position}`,
        kind: "positional",
        schema: { type: "string" },
        optional: true,
      },
    );
  }
  return {
    signature: { parameters, has_main: true, preprocessor: undefined },
    schema: toArgumentsSchema(parameters),
    packages: undefined,
    imports: [],
  };
}

async function requireValidSyntax(content: string): Promise<void> {
  const bash = Bun.which("bash");
  if (!bash) throw new BadRequest(describeMissingTool("bash", INSTALL_BASH));
  const child = Bun.spawn([bash, "-n", "/dev/stdin"], {
    stdin: new TextEncoder().encode(content),
    stdout: "ignore",
    stderr: "pipe",
    timeout: CHECK_TIMEOUT_MS,
    killSignal: "SIGKILL",
    env: { LC_ALL: "C" },
  });
  const [message, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code === 0) return;
  if (child.signalCode !== null) {
    throw new BadRequest(`bash could not read the script within ${CHECK_TIMEOUT_MS / 1000} s`);
  }
  const first = message.split("\n")[0] ?? "";
  const found = /line (\d+): /.exec(first);
  if (!found) throw new SyntaxFault(1, 1, first);
  throw new SyntaxFault(Number(found[1]), 1, first.slice(found.index + found[0].length));
}
