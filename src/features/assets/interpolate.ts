/**
 * Resolves references inside a JSON value. A string that consists of `$var:<path>`, `$res:<path>`,
 * `$encrypted:<ciphertext>` or `$<NAME>` stands for a variable, a resource, a decrypted value, or a fact about the
 * running job. References are resolved at any depth, and also inside the resources they lead to.
 */
import { BadRequest, NotFound } from "../../lib/errors.ts";
import { MAX_WRAPPED_JSON_DEPTH, NestedTooDeeply } from "../../lib/json/depth.ts";
import { replaceInLongJson } from "../../lib/json/long-json.ts";

/** Resolves references to values. Implementations decide who may read what. */
export interface ReferenceResolver {
  /** Returns the value of the variable at a path. @throws NotFound */
  variable(path: string): Promise<string>;
  /** Returns the stored value, not shared with anybody, so it may be changed in place. @throws NotFound */
  resource(path: string): Promise<unknown>;
  /** Decrypts an encrypted argument. Undefined where those cannot occur: the text then stays unchanged. */
  encrypted?(text: string): Promise<unknown>;
  /** Returns undefined for an unknown name; the text then stays unchanged. */
  contextual(name: string): string | undefined;
}

/** Start of an encrypted value; a ciphertext follows. */
export const ENCRYPTED_PREFIX = "$encrypted:";

/** Limits: the length of a chain of resources, and the number of references in one value. */
const MAX_RESOURCE_DEPTH = 20;
const MAX_REFERENCES = 1_000;

const REFERENCE_PATTERN = /^\$(?:(var|res|encrypted):(.+)|([A-Za-z_]\w*))$/s;

/** Whether a value is the text of a reference. */
export function isReference(value: unknown): boolean {
  return typeof value === "string" && REFERENCE_PATTERN.test(value);
}

/** Whether the JSON string that starts at `quote` may be a reference, which starts with a dollar sign. */
export function mayBeginReference(json: string, quote: number): boolean {
  return json.startsWith("$", quote + 1) || json.startsWith("\\u0024", quote + 1);
}

/** The position of a reference: `holder[key] === text`. */
interface ReferenceSite {
  holder: Record<string, unknown>;
  key: string;
  text: string;
  /** The position for error messages, such as `db.hosts[1]`. */
  at: string;
}

interface Resolution {
  references: ReferenceResolver;
  followed: number;
}

/** Source of a value with references. */
interface ResolutionOrigin {
  /** The resources that led to it, ending with the one that contains it. */
  chain: readonly string[];
  /** The argument that contains it; undefined if the value is that of a resource. */
  argument: string | undefined;
}

/**
 * Resolves the references in the value of a resource, in place.
 * @param path the resource's path
 * @throws BadRequest for a dangling or circular reference, or too many of them
 */
export function interpolateResource(
  value: unknown,
  references: ReferenceResolver,
  path: string,
): Promise<unknown> {
  return resolveWithin(value, { chain: [path], argument: undefined }, { references, followed: 0 });
}

/**
 * Resolves the references in the arguments of a job, in place. Errors name the argument.
 * @returns whether anything was replaced
 * @throws BadRequest
 */
export async function interpolateArguments(
  args: Record<string, unknown>,
  references: ReferenceResolver,
): Promise<boolean> {
  const walk: Resolution = { references, followed: 0 };
  let changed = false;
  for (const slot of findReferences(args)) {
    await replaceAt(slot, { chain: [], argument: slot.at }, walk);
    changed ||= slot.holder[slot.key] !== slot.text;
  }
  return changed;
}

/**
 * Resolves the references in arguments that are too large to be parsed.
 * @param args JSON text
 * @returns JSON text, unchanged if nothing was replaced
 */
export async function interpolateLargeJson(args: string, references: ReferenceResolver): Promise<string> {
  const walk: Resolution = { references, followed: 0 };
  return replaceInLongJson(args, mayBeginReference, async (text) =>
    JSON.stringify(
      isReference(text) ? await resolveReference(text, { chain: [], argument: "value" }, walk) : text,
    ),
  );
}

/**
 * Replaces each reference in a value, in place, with the result of `by`.
 * @param by gets the text and its position, such as `db.hosts[1]`
 * @returns whether anything was replaced
 */
export async function replaceReferences(
  value: object,
  by: (text: string, at: string) => Promise<unknown>,
): Promise<boolean> {
  let changed = false;
  for (const { holder, key, text, at } of findReferences(value)) {
    holder[key] = await by(text, at);
    changed ||= holder[key] !== text;
  }
  return changed;
}

async function resolveWithin(value: unknown, origin: ResolutionOrigin, walk: Resolution): Promise<unknown> {
  const root = { value };
  for (const slot of findReferences(root)) await replaceAt(slot, origin, walk);
  return root.value;
}

async function replaceAt(
  { holder, key, text }: ReferenceSite,
  origin: ResolutionOrigin,
  walk: Resolution,
): Promise<void> {
  holder[key] = await resolveReference(text, origin, walk);
}

function findReferences(value: object): ReferenceSite[] {
  const slots: ReferenceSite[] = [];
  collectReferences(value, slots, "", 0);
  return slots;
}

function collectReferences(holder: object, slots: ReferenceSite[], at: string, depth: number): void {
  if (depth > MAX_WRAPPED_JSON_DEPTH) throw new NestedTooDeeply("the value");
  const inArray = Array.isArray(holder);
  for (const [key, inner] of Object.entries(holder)) {
    if (!isReference(inner) && (typeof inner !== "object" || inner === null)) continue;
    const here = inArray ? `${at}[${key}]` : at === "" ? key : `${at}.${key}`;
    if (typeof inner === "string")
      slots.push({ holder: holder as ReferenceSite["holder"], key, text: inner, at: here });
    else collectReferences(inner as object, slots, here, depth + 1);
  }
}

async function resolveReference(
  text: string,
  { chain, argument }: ResolutionOrigin,
  walk: Resolution,
): Promise<unknown> {
  const { references } = walk;
  const [, kind, target, name] = REFERENCE_PATTERN.exec(text)!;
  if (name !== undefined) return references.contextual(name) ?? text;
  const where = describeOrigin({ chain, argument });
  if (++walk.followed > MAX_REFERENCES) {
    throw new BadRequest(`${where}the value contains more than ${MAX_REFERENCES} references`);
  }
  if (kind === "encrypted") {
    return references.encrypted
      ? withReferenceErrors(references.encrypted(target!), `${where}$encrypted:…`)
      : text;
  }
  const path = target!.replace(/^\//, "");
  if (kind === "var") return withReferenceErrors(references.variable(path), `${where}${text}`);
  if (chain.includes(path)) {
    const circle = [...chain, path].join(" → ");
    throw new BadRequest(`${argument ? where : ""}resources refer to each other in a circle: ${circle}`);
  }
  if (chain.length >= MAX_RESOURCE_DEPTH) {
    throw new BadRequest(
      `${argument ? where : ""}more than ${MAX_RESOURCE_DEPTH} nested resources: ${[...chain, path].join(" → ")}`,
    );
  }
  const value = await withReferenceErrors(references.resource(path), `${where}${text}`);
  return resolveWithin(value, { chain: [...chain, path], argument }, walk);
}

function describeOrigin({ chain, argument }: ResolutionOrigin): string {
  const resource = chain.length > 0 ? `resource ${chain.at(-1)}: ` : "";
  return argument === undefined ? resource : `argument ${argument}: ${resource}`;
}

/** Converts NotFound to BadRequest: the reference is wrong, not the request's own path. */
function withReferenceErrors<T>(found: Promise<T>, reference: string): Promise<T> {
  return found.catch((cause) => {
    if (cause instanceof BadRequest) throw new BadRequest(`${reference}: ${cause.message}`, { cause });
    if (!(cause instanceof NotFound)) throw cause;
    throw new BadRequest(
      `${reference} cannot be resolved: ${cause.message} does not exist, or the caller may not read it`,
    );
  });
}
