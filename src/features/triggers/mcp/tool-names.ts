/**
 * Names of tools. Clients allow letters, digits, `_` and `-`. So `s/` (script) or `f/` (flow) and the path are escaped:
 * `-` for a slash, `__` for `_`, `_-` for `-`. Longer names are cut and end in a hash, which is looked up among all
 * tools.
 */
import { createHash } from "node:crypto";

/** The script or flow of a tool. */
export interface ToolTarget {
  kind: "script" | "flow";
  path: string;
}

/** The smallest limit among clients. */
const MAX_NAME_CHARS = 64;
/** Starts with `_h`, which no escaped path contains. */
const HASH_SUFFIX = /_h[0-9a-f]{12}$/;
const ESCAPES: Record<string, string> = { "/": "-", _: "__", "-": "_-" };
const KIND_PREFIXES = { script: "s", flow: "f" } as const;

/** Formats the name of a tool: `u/ann/send_mail` of a script → `s-u-ann-send__mail`. */
export function formatToolName({ kind, path }: ToolTarget): string {
  const text = `${KIND_PREFIXES[kind]}/${path}`;
  const parts = [...text].map((char) => ESCAPES[char] ?? char);
  const name = parts.join("");
  if (name.length <= MAX_NAME_CHARS) return name;
  const end = `_h${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
  let head = "";
  for (const part of parts) {
    if (head.length + part.length + end.length > MAX_NAME_CHARS) break;
    head += part;
  }
  return head + end;
}

/**
 * Parses the name of a tool.
 * @returns the target; "hashed" if the name must be looked up; undefined for an invalid name
 */
export function parseToolName(name: string): ToolTarget | "hashed" | undefined {
  if (HASH_SUFFIX.test(name) && name.length <= MAX_NAME_CHARS) return "hashed";
  const text = name.replace(/_([_-])|-/g, (_, char?: string) => char ?? "/");
  const path = text.slice(2);
  const kind = text.startsWith("s/") ? "script" : text.startsWith("f/") ? "flow" : undefined;
  return kind && formatToolName({ kind, path }) === name ? { kind, path } : undefined;
}
