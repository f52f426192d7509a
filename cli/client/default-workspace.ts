/** The workspace chosen by `svc workspace use`, per server or data directory. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { getUserFile } from "./data-directory.ts";

const file = () => getUserFile("workspaces.json");

function readAll(): Record<string, string> {
  try {
    const found: unknown = JSON.parse(readFileSync(file(), "utf8"));
    return typeof found === "object" && found !== null ? (found as Record<string, string>) : {};
  } catch {
    return {};
  }
}

/**
 * Reads the default workspace of a server or data directory; undefined if none was chosen.
 * @param where the server's address, or the data directory
 */
export function readDefaultWorkspace(where: string): string | undefined {
  const found = readAll()[where];
  return typeof found === "string" ? found : undefined;
}

/** Stores the default workspace of a server or data directory. @param workspace undefined: removes the choice */
export function writeDefaultWorkspace(where: string, workspace: string | undefined): void {
  const { [where]: _, ...others } = readAll();
  const next = workspace === undefined ? others : { ...others, [where]: workspace };
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 });
  writeFileSync(file(), `${JSON.stringify(next, undefined, 2)}\n`, { mode: 0o600 });
}
