/**
 * References inside a JSON value: a text that is nothing but `$var:<path>`, `$res:<path>`, `$encrypted:<sealed>` or
 * `$<NAME>` stands for a variable's value, another resource's value, a value that was sealed, or a fact about the running
 * job. They are followed at any depth, in arrays too, and through the resources they lead to.
 */
import { BadRequest, NotFound } from "../../lib/errors.ts";
import { MAX_DEPTH_WITHIN, NestedTooDeeply } from "../../lib/json/depth.ts";
import { replaceInLong } from "../../lib/json/long.ts";

/** What references lead to; who may follow them is decided behind it. */
export interface References {
  /** @throws NotFound */
  variable(path: string): Promise<string>;
  /** The stored value, which nobody else holds: it is changed in place. @throws NotFound */
  resource(path: string): Promise<unknown>;
  /** What was sealed for an argument. Undefined where none can stand: the text stays as it is. */
  sealed?(text: string): Promise<unknown>;
  /** Undefined when the name means nothing here, and the text stays as it is. */
  contextual(name: string): string | undefined;
}

/** How many resources may lead to one another, how many references one value may make. */
const MAX_CHAIN = 20;
const MAX_REFERENCES = 1_000;

const REFERENCE = /^\$(?:(var|res|encrypted):(.+)|([A-Za-z_]\w*))$/s;

/** Whether a value is the text of a reference. */
export function isReference(value: unknown): boolean {
  return typeof value === "string" && REFERENCE.test(value);
}

/** Whether the string that begins here, in JSON text, may be a reference: whether it begins with a dollar. */
export function mayBeginReference(json: string, quote: number): boolean {
  return json.startsWith("$", quote + 1) || json.startsWith("\\u0024", quote + 1);
}

/** Where a reference stands: `holder[key] === text`. */
interface Slot {
  holder: Record<string, unknown>;
  key: string;
  text: string;
  /** Where in the value that is, for messages: `db.hosts[1]`. */
  at: string;
}

interface Walk {
  references: References;
  followed: number;
}

/** A value that references are replaced in. */
interface Origin {
  /** The resources that led to it; the value is of the last one. */
  chain: readonly string[];
  /** The argument that it is, or is part of, when it does not begin with a resource. */
  argument: string | undefined;
}

/**
 * Replaces the references in a value that nobody else holds.
 * @param path of the resource that the value is of
 * @throws BadRequest for a reference that leads nowhere or in a circle, or for too many
 */
export function interpolate(value: unknown, references: References, path: string): Promise<unknown> {
  return fill(value, { chain: [path], argument: undefined }, { references, followed: 0 });
}

/**
 * The same for the arguments of a job; what is said of a reference names the argument it stands in.
 * @returns whether anything was replaced
 * @throws BadRequest
 */
export async function interpolateArguments(
  args: Record<string, unknown>,
  references: References,
): Promise<boolean> {
  const walk: Walk = { references, followed: 0 };
  let changed = false;
  for (const slot of slotsOf(args)) {
    await replace(slot, { chain: [], argument: slot.at }, walk);
    changed ||= slot.holder[slot.key] !== slot.text;
  }
  return changed;
}

/**
 * The same for arguments that are too long to be held as a value.
 * @param args JSON text
 * @returns JSON text, the same one when nothing was replaced
 */
export async function interpolateLong(args: string, references: References): Promise<string> {
  const walk: Walk = { references, followed: 0 };
  return replaceInLong(args, mayBeginReference, async (text) =>
    JSON.stringify(isReference(text) ? await follow(text, { chain: [], argument: "value" }, walk) : text),
  );
}

/**
 * Puts what `by` makes of it in the place of each reference in a value that nobody else holds.
 * @param by is told the text, and where it stands: `db.hosts[1]`
 * @returns whether anything was replaced
 */
export async function replaceReferences(
  value: object,
  by: (text: string, at: string) => Promise<unknown>,
): Promise<boolean> {
  let changed = false;
  for (const { holder, key, text, at } of slotsOf(value)) {
    holder[key] = await by(text, at);
    changed ||= holder[key] !== text;
  }
  return changed;
}

async function fill(value: unknown, origin: Origin, walk: Walk): Promise<unknown> {
  const root = { value };
  for (const slot of slotsOf(root)) await replace(slot, origin, walk);
  return root.value;
}

async function replace({ holder, key, text }: Slot, origin: Origin, walk: Walk): Promise<void> {
  holder[key] = await follow(text, origin, walk);
}

function slotsOf(value: object): Slot[] {
  const slots: Slot[] = [];
  collect(value, slots, "", 0);
  return slots;
}

function collect(holder: object, slots: Slot[], at: string, depth: number): void {
  if (depth > MAX_DEPTH_WITHIN) throw new NestedTooDeeply("the value");
  const inArray = Array.isArray(holder);
  for (const [key, inner] of Object.entries(holder)) {
    if (!isReference(inner) && (typeof inner !== "object" || inner === null)) continue;
    const here = inArray ? `${at}[${key}]` : at === "" ? key : `${at}.${key}`;
    if (typeof inner === "string")
      slots.push({ holder: holder as Slot["holder"], key, text: inner, at: here });
    else collect(inner as object, slots, here, depth + 1);
  }
}

async function follow(text: string, { chain, argument }: Origin, walk: Walk): Promise<unknown> {
  const { references } = walk;
  const [, kind, target, name] = REFERENCE.exec(text)!;
  if (name !== undefined) return references.contextual(name) ?? text;
  const where = placeOf({ chain, argument });
  if (++walk.followed > MAX_REFERENCES) {
    throw new BadRequest(`${where}the value makes more than ${MAX_REFERENCES} references`);
  }
  if (kind === "encrypted") {
    return references.sealed ? orSay(references.sealed(target!), `${where}$encrypted:…`) : text;
  }
  const path = target!.replace(/^\//, "");
  if (kind === "var") return orSay(references.variable(path), `${where}${text}`);
  if (chain.includes(path)) {
    const circle = [...chain, path].join(" → ");
    throw new BadRequest(`${argument ? where : ""}resources refer to each other in a circle: ${circle}`);
  }
  if (chain.length >= MAX_CHAIN) {
    throw new BadRequest(
      `${argument ? where : ""}more than ${MAX_CHAIN} resources lead to one another: ${[...chain, path].join(" → ")}`,
    );
  }
  const value = await orSay(references.resource(path), `${where}${text}`);
  return fill(value, { chain: [...chain, path], argument }, walk);
}

function placeOf({ chain, argument }: Origin): string {
  const resource = chain.length > 0 ? `resource ${chain.at(-1)}: ` : "";
  return argument === undefined ? resource : `argument ${argument}: ${resource}`;
}

/** A reference that leads nowhere is a fault of what makes it: what was asked for is there. */
function orSay<T>(found: Promise<T>, reference: string): Promise<T> {
  return found.catch((cause) => {
    if (cause instanceof BadRequest) throw new BadRequest(`${reference}: ${cause.message}`);
    if (!(cause instanceof NotFound)) throw cause;
    throw new BadRequest(
      `${reference} leads nowhere: ${cause.message} does not exist, or not for the caller`,
    );
  });
}
