/** Run by Deno: reads the arguments object from standard input, calls main of the script and stores its result. */
import { Buffer } from "node:buffer";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import type { ParameterBinding } from "../../../languages/types.ts";
import { toJson } from "./to-json.ts";

const [file, described] = process.argv.slice(2) as [string, string];
const folder = process.cwd();

/** Returns the arguments in the order of main's parameters. */
function bind(args: Record<string, unknown>): unknown[] {
  return (JSON.parse(described) as ParameterBinding[]).flatMap(({ name, kind, is_date, is_bytes }) => {
    const value = args[name];
    if (kind === "whole") return [args];
    if (kind === "rest") return Array.isArray(value) ? value : [];
    if (is_date && typeof value === "string") return [new Date(value)];
    return [is_bytes && typeof value === "string" ? Buffer.from(value, "base64") : value];
  });
}

try {
  const args = JSON.parse(readFileSync(0, "utf8"));
  const { main } = await import(`file://${file}`);
  if (typeof main !== "function") throw new Error("the script exports no function `main`");
  const value = await main(...bind(args));
  writeFileSync(`${folder}/result.json`, toJson(value, Number.POSITIVE_INFINITY));
  process.exit(0);
} catch (cause) {
  const { name, message, stack } = cause instanceof Error ? cause : new Error(String(cause));
  writeFileSync(`${folder}/error.json`, JSON.stringify({ name, message, stack }));
  process.exit(1);
}
