/**
 * Names of tools. Clients take letters, digits, `_` and `-`, of which a path consists too, beside its slashes: so
 * `s/` (a script) or `f/` (a flow) and the path are written with `-` for a slash, `__` for `_` and `_-` for `-`, and read
 * back by that. What becomes too long is cut and ends in a hash, by which it is found among all tools.
 */
import { createHash } from "node:crypto";

/** What a tool stands for. */
export interface Target {
  kind: "script" | "flow";
  path: string;
}

/** The least of what clients allow. */
const MAX_NAME = 64;
/** After `_`, which nothing else puts before an h. */
const HASH = /_h[0-9a-f]{12}$/;
const WRITTEN: Record<string, string> = { "/": "-", _: "__", "-": "_-" };
const WORDS = { script: "s", flow: "f" } as const;

/** `u/ann/send_mail` of a script → `s-u-ann-send__mail` */
export function toolName({ kind, path }: Target): string {
  const text = `${WORDS[kind]}/${path}`;
  const parts = [...text].map((char) => WRITTEN[char] ?? char);
  const name = parts.join("");
  if (name.length <= MAX_NAME) return name;
  const end = `_h${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
  let head = "";
  for (const part of parts) {
    if (head.length + part.length + end.length > MAX_NAME) break;
    head += part;
  }
  return head + end;
}

/** @returns the target; "hashed" when only a search can tell; undefined for what names no tool */
export function targetOf(name: string): Target | "hashed" | undefined {
  if (HASH.test(name) && name.length <= MAX_NAME) return "hashed";
  const text = name.replace(/_([_-])|-/g, (_, char?: string) => char ?? "/");
  const path = text.slice(2);
  const kind = text.startsWith("s/") ? "script" : text.startsWith("f/") ? "flow" : undefined;
  return kind && toolName({ kind, path }) === name ? { kind, path } : undefined;
}
