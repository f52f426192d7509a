/**
 * References in values that a flow's expression, a preprocessor or a workflow as code has computed. Only those count
 * that the caller gave as such, or that the expression or code builds. All others are data that look like references:
 * a text that a caller sent inside another one, or that a step has fetched. Resolved with the rights of the run, they
 * would give secrets to whoever wrote the data, so they become literals.
 */
import { isContainer } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { ENCRYPTED_PREFIX, isReference } from "../../assets/interpolate.ts";
import { isPlainName } from "./caller-references.ts";
import { createDataSearch } from "./data-search.ts";
import { encryptArgument, type RunAs } from "./password-arguments.ts";

/** How a value was computed. What it was made of is read, and parsed, only if the value contains a reference. */
export interface Computation {
  /** The expression or code. */
  source: string;
  /** Values in which a whole text may be a reference: arguments of the run. */
  given: () => readonly unknown[];
  /** Values in which no text is one: results of steps, and texts that contain others. */
  data: () => readonly unknown[];
}

/** Matches sources that build references. */
const BUILDER = /\$(var|res):/;

/**
 * Encrypts the references in a computed value that are data, as literals.
 * @param runner the user the run acts as, for whom they are encrypted
 * @returns the value, or a copy of it
 */
export async function escapeComputedReferences(
  app: App,
  runner: RunAs,
  value: unknown,
  computation: Computation,
): Promise<unknown> {
  if (listTexts(value).every((text) => !isReference(text))) return value;
  const isMeant = createJudge(computation);
  const known = new Map<string, string | Promise<string>>();
  const settle = (text: string) => {
    if (!isReference(text) || isPlainName(text) || text.startsWith(ENCRYPTED_PREFIX)) return text;
    const before = known.get(text);
    if (before !== undefined) return before;
    const settled = isMeant(text) ? text : encryptArgument(app, runner, text);
    known.set(text, settled);
    return settled;
  };
  return replaceTexts(value, settle);
}

/** Returns a predicate that tells whether a reference counts. */
function createJudge({ source, given, data }: Computation): (text: string) => boolean {
  const whole = new Set(listTexts(given()).filter(isReference));
  const isData = BUILDER.test(source)
    ? createDataSearch(listTexts(data()).filter((text) => text.includes("$")))
    : () => true;
  return (text) => whole.has(text) || !isData(text);
}

/** Lists the texts in a value, at any depth. */
function listTexts(value: unknown): string[] {
  const texts: string[] = [];
  const ahead: unknown[] = [value];
  while (ahead.length > 0) {
    const at = ahead.pop();
    if (typeof at === "string") texts.push(at);
    else if (isContainer(at)) for (const inner of Object.values(at)) ahead.push(inner);
  }
  return texts;
}

/** Returns a copy of the value with its texts replaced. */
async function replaceTexts(
  value: unknown,
  by: (text: string) => string | Promise<string>,
): Promise<unknown> {
  if (typeof value === "string") return by(value);
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return Promise.all(value.map((inner) => replaceTexts(inner, by)));
  const entries = Object.entries(value).map(
    async ([name, inner]) => [name, await replaceTexts(inner, by)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}
