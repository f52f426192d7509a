/**
 * References inside a JSON value: a text that is nothing but `$var:<path>`, `$res:<path>` or `$WM_<NAME>` stands for a
 * variable's value, another resource's value or a fact about the running job. They are followed at any depth, in arrays
 * too, and through the resources they lead to.
 */
import { BadRequest, NotFound } from "../../errors.ts";

/** What references lead to; who may follow them is decided behind it. */
export interface References {
  /** @throws NotFound */
  variable(path: string): Promise<string>;
  /** The stored value, which nobody else holds: it is changed in place. @throws NotFound */
  resource(path: string): Promise<unknown>;
  /** A `WM_…` name; undefined when it means nothing here, and the text stays as it is. */
  contextual(name: string): string | undefined;
}

/** How deep a value may be nested, how many resources may lead to one another, how many references one value may make. */
const MAX_NESTING = 200;
const MAX_CHAIN = 20;
const MAX_REFERENCES = 1_000;

const REFERENCE = /^\$(?:(var|res):(.+)|(WM_[A-Z0-9_]+))$/;

/** Where a reference stands: `holder[key] === text`. */
interface Slot {
  holder: Record<string, unknown>;
  key: string;
  text: string;
}

interface Walk {
  references: References;
  followed: number;
}

/**
 * Replaces the references in a value that nobody else holds.
 * @param path of the resource that the value is of, when it is one
 * @throws BadRequest for a reference that leads nowhere or in a circle, or for too many
 */
export function interpolate(value: unknown, references: References, path?: string): Promise<unknown> {
  return fill(value, path === undefined ? [] : [path], { references, followed: 0 });
}

async function fill(value: unknown, chain: readonly string[], walk: Walk): Promise<unknown> {
  const root = { value };
  const slots: Slot[] = [];
  collect(root, slots, 0);
  for (const { holder, key, text } of slots) holder[key] = await follow(text, chain, walk);
  return root.value;
}

function collect(holder: object, slots: Slot[], depth: number): void {
  if (depth > MAX_NESTING) throw new BadRequest(`the value is nested more than ${MAX_NESTING} levels deep`);
  for (const [key, inner] of Object.entries(holder)) {
    if (typeof inner === "string") {
      if (REFERENCE.test(inner)) slots.push({ holder: holder as Slot["holder"], key, text: inner });
    } else if (typeof inner === "object" && inner !== null) collect(inner, slots, depth + 1);
  }
}

async function follow(text: string, chain: readonly string[], walk: Walk): Promise<unknown> {
  const { references } = walk;
  const [, kind, target, name] = REFERENCE.exec(text)!;
  if (name !== undefined) return references.contextual(name) ?? text;
  if (++walk.followed > MAX_REFERENCES) {
    throw new BadRequest(`the value makes more than ${MAX_REFERENCES} references`);
  }
  const path = target!.replace(/^\//, "");
  const where = chain.length > 0 ? `resource ${chain.at(-1)}: ` : "";
  if (kind === "var") return orSay(references.variable(path), `${where}${text}`);
  if (chain.includes(path)) {
    throw new BadRequest(`resources refer to each other in a circle: ${[...chain, path].join(" → ")}`);
  }
  if (chain.length >= MAX_CHAIN) {
    throw new BadRequest(
      `more than ${MAX_CHAIN} resources lead to one another: ${[...chain, path].join(" → ")}`,
    );
  }
  return fill(await orSay(references.resource(path), `${where}${text}`), [...chain, path], walk);
}

/** A reference that leads nowhere is a fault of what makes it: what was asked for is there. */
function orSay<T>(found: Promise<T>, reference: string): Promise<T> {
  return found.catch((cause) => {
    if (!(cause instanceof NotFound)) throw cause;
    throw new BadRequest(
      `${reference} leads nowhere: ${cause.message} does not exist, or not for the caller`,
    );
  });
}
