/** Suggests an existing path for a misspelled one. */
import { listFlowPaths } from "../../src/features/code/flows/list-operations.ts";
import { listScriptPaths } from "../../src/features/code/scripts/version-operations.ts";
import type { ServiceClient } from "../client/transport.ts";
import { CliError } from "../terminal/text/failure.ts";

/** Paths that differ by more edits are not suggested. */
const MAX_EDITS = 3;

/** Adds a suggestion to the error about a script or flow that does not exist. */
export async function suggestPath(
  cause: unknown,
  client: ServiceClient,
  workspace: string,
  path: string,
): Promise<unknown> {
  if (!(cause instanceof CliError) || cause.name !== "NotFound" || !cause.message.includes(path))
    return cause;
  const lists = await Promise.all(
    [listScriptPaths, listFlowPaths].map((list) => client.call(list, { workspace }).catch(() => [])),
  );
  const [scripts, flows] = lists as [string[], string[]];
  if (scripts.includes(path) || flows.includes(path)) {
    const hint = `${path} is a ${scripts.includes(path) ? "script" : "flow"}: svc run ${path}`;
    return new CliError(cause.name, cause.message, { hint, exit_code: cause.exit_code });
  }
  const [nearest] = lists
    .flat()
    .map((each) => ({ each, edits: countEdits(path, each) }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .sort((a, b) => a.edits - b.edits);
  const hint = nearest
    ? `did you mean ${nearest.each}?`
    : `svc script list --workspace ${workspace} and svc flow list show what there is`;
  return new CliError(cause.name, cause.message, { hint, exit_code: cause.exit_code });
}

/** Counts inserted, removed and replaced characters (Levenshtein distance). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
    }
    row = next;
  }
  return row.at(-1)!;
}
