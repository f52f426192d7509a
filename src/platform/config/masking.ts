/** Secrets inside settings: hidden where settings are shown, and put back where a shown setting comes in again. */
import { BadRequest } from "../../lib/errors.ts";
import { isContainer } from "../../lib/json/json.ts";
import type { Definition } from "./keys.ts";

/** What stands for a secret. */
export const MASK = "********";

/** Of a URL, the host may be known. */
function maskText(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return MASK;
  return `${new URL(text).origin}/${MASK}`;
}

/** A name that says that what it names is a secret: all there is to go by for a key nobody here knows. */
const SECRET_NAME = /(secret|token|password|passwd|credential|private|(api|license|access)_?key)/i;

/** The value of a setting as it may be shown to whoever may see the list of settings. */
export function masked(key: string, definition: Definition | undefined, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  if (definition === undefined) return SECRET_NAME.test(key) || holdsSecret(value) ? MASK : value;
  if (definition.secret === true) return MASK;
  return atPaths(definition.secret ?? [], value, maskText);
}

/** Whether something inside an unknown value is called like a secret. */
function holdsSecret(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => SECRET_NAME.test(name) || holdsSecret(inner));
}

/**
 * Takes what was shown masked for what it was, so that a list of settings can be read, changed and written back.
 * @throws BadRequest for a mask that stands for nothing known
 */
export function unmasked(
  key: string,
  definition: Definition | undefined,
  given: unknown,
  before: unknown,
): unknown {
  const unknown = () =>
    new BadRequest(
      `setting ${key}: ${MASK} stands for a stored secret, and none is stored here: give the secret itself`,
    );
  if (given === MASK) {
    if (before === undefined) throw unknown();
    return before;
  }
  if (!Array.isArray(definition?.secret)) return given;
  const known = new Map<string, string>();
  atPaths(definition.secret, before, (text, path) => {
    known.set(`${path} ${maskText(text)}`, text);
    known.set(maskText(text), text);
    return text;
  });
  return atPaths(definition.secret, given, (text, path) => {
    if (!text.includes(MASK)) return text;
    const found = known.get(`${path} ${text}`) ?? known.get(text);
    if (found === undefined) throw unknown();
    return found;
  });
}

/**
 * A copy in which `change` was asked for every text at one of the paths; `*` stands for every name or index, and a path
 * that ends in `:url` means URLs alone.
 */
function atPaths(
  paths: readonly string[],
  value: unknown,
  change: (text: string, path: string) => string,
): unknown {
  return paths.reduce((copy: unknown, path) => {
    const [way = "", only] = path.split(":");
    const wanted = (text: string) => only === undefined || /^https?:/.test(text);
    const asked = (text: string, place: string) => (wanted(text) ? change(text, place) : text);
    return at(way.split("."), copy, asked, "");
  }, value);
}

function at(
  path: readonly string[],
  value: unknown,
  change: (text: string, path: string) => string,
  way: string,
): unknown {
  if (path.length === 0) return typeof value === "string" && value !== "" ? change(value, way) : value;
  if (!isContainer(value)) return value;
  const [name, ...rest] = path as [string, ...string[]];
  const inside = (inner: unknown, step: string) => at(rest, inner, change, `${way}.${step}`);
  if (Array.isArray(value)) {
    return name === "*" ? value.map((inner, index) => inside(inner, String(index))) : value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [
      field,
      name === "*" || name === field ? inside(inner, field) : inner,
    ]),
  );
}
