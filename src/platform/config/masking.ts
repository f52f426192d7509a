/** Masks secrets where settings are shown, and restores them when a shown setting is written back. */
import { BadRequest } from "../../lib/errors.ts";
import { isContainer } from "../../lib/json/json.ts";
import type { SettingDefinition } from "./instance-settings.ts";

/** Text shown instead of a secret. */
export const SECRET_MASK = "********";

/** Masks a text; of a URL the origin stays visible. */
function maskText(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return SECRET_MASK;
  return `${new URL(text).origin}/${SECRET_MASK}`;
}

/** Field names that indicate a secret, used for keys without a definition. */
const SECRET_NAME_PATTERN = /(secret|token|password|passwd|credential|private|(api|license|access)_?key)/i;

/** Matches user and password in the URLs of a text. */
const URL_CREDENTIALS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]+@/gi;

/** Whether a value is a text with user or password in a URL, which makes it secret. */
export function hasUrlCredentials(value: unknown): boolean {
  return typeof value === "string" && maskUrlCredentials(value) !== value;
}

const maskUrlCredentials = (text: string) => text.replace(URL_CREDENTIALS, `$1${SECRET_MASK}@`);

/** Returns a setting's value for display, with its secrets masked. */
export function maskSetting(key: string, definition: SettingDefinition | undefined, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  if (definition === undefined)
    return SECRET_NAME_PATTERN.test(key) || hasSecretName(value) ? SECRET_MASK : value;
  if (definition.secret === true) return SECRET_MASK;
  if (definition.secret === undefined && typeof value === "string") return maskUrlCredentials(value);
  return mapTextsAtPaths(definition.secret ?? [], value, maskText);
}

/** Whether any field inside the value has a name that indicates a secret. */
function hasSecretName(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) => SECRET_NAME_PATTERN.test(name) || hasSecretName(inner),
  );
}

/**
 * Restores masked parts from the stored value, so that settings can be read, changed and written back.
 * @throws BadRequest for a mask without a stored secret
 */
export function unmaskSetting(
  key: string,
  definition: SettingDefinition | undefined,
  given: unknown,
  before: unknown,
): unknown {
  const unknown = () =>
    new BadRequest(
      `setting ${key}: ${SECRET_MASK} stands for a stored secret, and none is stored here: send the secret itself`,
    );
  if (given === SECRET_MASK) {
    if (before === undefined) throw unknown();
    return before;
  }
  if (definition && definition.secret === undefined && typeof given === "string") {
    if (!given.includes(`${SECRET_MASK}@`)) return given;
    if (typeof before !== "string" || maskUrlCredentials(before) !== given) throw unknown();
    return before;
  }
  if (!Array.isArray(definition?.secret)) return given;
  const known = new Map<string, string>();
  mapTextsAtPaths(definition.secret, before, (text, path) => {
    known.set(`${path} ${maskText(text)}`, text);
    known.set(maskText(text), text);
    return text;
  });
  return mapTextsAtPaths(definition.secret, given, (text, path) => {
    if (!text.includes(SECRET_MASK)) return text;
    const found = known.get(`${path} ${text}`) ?? known.get(text);
    if (found === undefined) throw unknown();
    return found;
  });
}

/**
 * Returns a copy with `change` applied to every text at the paths. `*` matches every name or index; a path ending in
 * `:url` matches URLs only.
 */
function mapTextsAtPaths(
  paths: readonly string[],
  value: unknown,
  change: (text: string, path: string) => string,
): unknown {
  return paths.reduce((copy: unknown, path) => {
    const [way = "", only] = path.split(":");
    const wanted = (text: string) => only === undefined || /^https?:/.test(text);
    const asked = (text: string, place: string) => (wanted(text) ? change(text, place) : text);
    return mapTextsAtPath(way.split("."), copy, asked, "");
  }, value);
}

function mapTextsAtPath(
  path: readonly string[],
  value: unknown,
  change: (text: string, path: string) => string,
  way: string,
): unknown {
  if (path.length === 0) return typeof value === "string" && value !== "" ? change(value, way) : value;
  if (!isContainer(value)) return value;
  const [name, ...rest] = path as [string, ...string[]];
  const inside = (inner: unknown, step: string) => mapTextsAtPath(rest, inner, change, `${way}.${step}`);
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
