import { BadRequest } from "../../../lib/errors.ts";

/** Parses the `runnable_kind` of a path. @returns whether it is a flow @throws BadRequest */
export function parseRunnableKind(kind: string): boolean {
  if (kind === "script" || kind === "flow") return kind === "flow";
  throw new BadRequest(`\`runnable_kind\`: must be script or flow, not ${kind.slice(0, 50)}`);
}
