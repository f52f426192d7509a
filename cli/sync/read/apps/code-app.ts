/**
 * Apps of code: a folder with the files of a page and, in `backend/`, its runnables: a description of each, and the
 * code of those that belong to the app. On the service, both are in the app's value, in the form that existing clients
 * use. Older clients use other names for the types of runnables.
 */
import { join } from "node:path";
import { createParseError, parseYaml } from "../../../jobs/flow-file.ts";
import { createUsageError } from "../../../terminal/text/failure.ts";
import { getInlineEnding, parseCodeFileName } from "../inline.ts";
import type { Fields } from "../items.ts";

const BACKEND = "backend/";
/** Folders and files that are generated, or private to the developer. */
const LEFT_FOLDERS = /^(?:node_modules|dist|sql_to_apply|\..*)$/i;
const LEFT_FILES = /^(?:package-lock\.json|DATATABLES\.md|AGENTS\.md|wmill\.d\.ts|\..*)$/i;

/** Whether a file of the page, by its name below the app's folder, is part of the app. */
export function isPageFile(name: string): boolean {
  const folders = name.split("/");
  const file = folders.pop()!;
  if (/^(?:backend|recordings)$/i.test(folders[0] ?? "") || folders.some((each) => LEFT_FOLDERS.test(each)))
    return false;
  return !LEFT_FILES.test(file) && !/^raw_app\.(?:yaml|json)$/.test(name);
}

interface AppFolder {
  root: string;
  /** The app's folder below the root. */
  folder: string;
  /** All files below the root. */
  names: Iterable<string>;
  default_ts: "bun" | "deno";
}

/** Reads an app. @param fields of `raw_app.yaml` @returns the item's fields, and the names of its files */
export async function readCodeApp(
  { root, folder, names, default_ts }: AppFolder,
  { data, runnables: described, ...fields }: Fields,
): Promise<{ fields: Fields; files: string[] }> {
  const own = [...names].filter((name) => name.startsWith(`${folder}/`));
  const below = own.map((name) => name.slice(folder.length + 1));
  const read = async (name: string) => readText(join(root, folder), name, folder);
  const files: Fields = {};
  for (const name of below.filter(isPageFile)) files[`/${name}`] = await read(name);
  const backend = below.filter((name) => /^backend\/[^/]+$/.test(name));
  const runnables = await readRunnables(
    new Map(
      await Promise.all(
        backend.map(async (name) => [name.slice(BACKEND.length), await read(name)] as [string, string]),
      ),
    ),
    { folder, default_ts },
  );
  const value = {
    // Older clients described the runnables in the same file.
    runnables: Object.keys(runnables).length > 0 ? runnables : (described ?? {}),
    files,
    ...(data !== undefined && data !== null && { data }),
  };
  return {
    fields: { ...fields, value },
    files: [...below.filter(isPageFile), ...backend].map((name) => `${folder}/${name}`),
  };
}

/**
 * Reads a file of an app as UTF-8 text.
 * @throws a usage error for a file that is not text, since an app can contain text only
 */
async function readText(place: string, name: string, folder: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      await Bun.file(join(place, name)).bytes(),
    );
  } catch {
    throw createUsageError(`${folder}/${name} is not text: an app of code holds texts only`);
  }
}

async function readRunnables(
  files: Map<string, string>,
  { folder, default_ts }: Pick<AppFolder, "folder" | "default_ts">,
): Promise<Fields> {
  const runnables: Fields = {};
  const code = new Map<string, Fields>();
  for (const [name, content] of files) {
    const found = parseCodeFileName(name, default_ts);
    if (!found) continue;
    const lock = files.get(`${found.stem}.lock`);
    code.set(found.stem, { content, language: found.language, ...(lock && { lock }) });
  }
  for (const [name, text] of files) {
    if (!name.endsWith(".yaml")) continue;
    const id = name.slice(0, -".yaml".length);
    const said = await parseYaml(text).catch((cause: Error) => {
      throw createParseError(`${folder}/${BACKEND}${name}`, cause);
    });
    const inlineScript = code.get(id);
    const given = (typeof said === "object" && said !== null ? said : {}) as Fields;
    runnables[id] = given.type === "inline" && inlineScript ? { ...given, inlineScript } : given;
  }
  for (const [id, inlineScript] of code) runnables[id] ??= { type: "inline", inlineScript };
  return Object.fromEntries(Object.entries(runnables).map(([id, each]) => [id, toStored(each as Fields)]));
}

const KINDS_BY_PATH = ["script", "flow", "hubscript"];

/** Converts a runnable's description to the form of the service. */
function toStored({ schema: _, ...runnable }: Fields): Fields {
  const { type, fields } = runnable;
  const typed = KINDS_BY_PATH.includes(String(type))
    ? { ...runnable, type: "path", runType: type }
    : runnable;
  return isObject(fields) ? { ...typed, fields: mapFields(fields, toStoredField) } : typed;
}

function toStoredField(field: Fields): Fields {
  const { value, ctx, expr, allowUserResources } = field;
  if (value !== undefined) return { type: "static", value };
  if (ctx !== undefined) return { type: "ctx", ctx };
  if (expr !== undefined)
    return { type: "javascript", expr, ...(allowUserResources !== undefined && { allowUserResources }) };
  return field;
}

/**
 * Returns the value to compare: without names of types that differ between clients, and without fields that are not
 * part of it.
 */
export function normaliseAppValue(value: unknown): Fields {
  const { runnables, files, ...rest } = isObject(value) ? value : {};
  const pages = Object.entries(isObject(files) ? files : {}).filter(([name]) => isPageFile(name.slice(1)));
  const runs = Object.entries(isObject(runnables) ? runnables : {}).map(([id, each]) => {
    const { schema: _, ...kept } = isObject(each) ? each : {};
    const inlineScript = isObject(kept.inlineScript) ? { ...kept.inlineScript } : undefined;
    for (const name of ["schema", "path", "lock"]) if (!inlineScript?.[name]) delete inlineScript?.[name];
    delete inlineScript?.schema;
    const type = inlineScript ? "inline" : kept.runType ? "path" : kept.type;
    const fields = isObject(kept.fields) && mapFields(kept.fields, toStoredField);
    return [id, { ...kept, type, ...(inlineScript && { inlineScript }), ...(fields && { fields }) }];
  });
  return { ...rest, files: Object.fromEntries(pages), runnables: Object.fromEntries(runs) };
}

/** Applies the change to the fields of a runnable, except those filled in by the page. */
function mapFields(fields: Fields, change: (field: Fields) => Fields): Fields {
  const stated = Object.entries(fields).filter(([, field]) => isObject(field) && field.type !== "user");
  return Object.fromEntries(stated.map(([name, field]) => [name, change(field as Fields)]));
}

/**
 * Creates an app's files, by name below its folder.
 * @param toYaml writes a description
 */
export function createCodeAppFiles(
  { value, policy, custom_path, ...fields }: Fields,
  default_ts: AppFolder["default_ts"],
  toYaml: (content: Fields) => string,
): Map<string, string> {
  const { files, runnables, data } = normaliseAppValue(value) as Record<string, Fields>;
  const isPublic = isObject(policy) && policy.execution_mode === "anonymous";
  const described = {
    ...fields,
    ...(custom_path ? { custom_path } : {}),
    ...(data && { data }),
    ...(isPublic && { public: true }),
  };
  const written = new Map([["raw_app.yaml", toYaml(described)]]);
  for (const [name, text] of Object.entries(files!)) written.set(name.replace(/^\//, ""), String(text));
  for (const [id, each] of Object.entries(runnables!)) {
    const { inlineScript, type, runType, fields: stated, ...rest } = each as Fields;
    const shown = isObject(stated) ? { fields: mapFields(stated, toFileField) } : {};
    written.set(`${BACKEND}${id}.yaml`, toYaml({ type: runType ?? type, ...rest, ...shown }));
    if (!isObject(inlineScript)) continue;
    const { content, language, lock } = inlineScript;
    written.set(`${BACKEND}${id}.${getInlineEnding(String(language), default_ts)}`, String(content ?? ""));
    if (lock) written.set(`${BACKEND}${id}.lock`, String(lock));
  }
  return written;
}

const toFileField = ({ type, ...field }: Fields): Fields =>
  ["static", "ctx", "javascript"].includes(String(type)) ? field : { type, ...field };

/** Creates the policy that lets the page run its backend, with the inputs that are fixed there. */
export function createAppPolicy(value: unknown, base: Fields): Fields {
  const { runnables } = normaliseAppValue(value) as Record<string, Record<string, Fields>>;
  const triggerables = Object.entries(runnables!).flatMap(([id, { inlineScript, runType, path, fields }]) => {
    const stated = Object.entries(isObject(fields) ? (fields as Record<string, Fields>) : {});
    const named = (is: (field: Fields) => unknown) =>
      stated.filter(([, field]) => is(field)).map(([name, { value }]) => [name, value] as const);
    const what = isObject(inlineScript)
      ? `rawscript/${new Bun.CryptoHasher("sha256").update(String(inlineScript.content)).digest("hex")}`
      : runType && `${runType === "hubscript" ? "script" : runType}/${path}`;
    if (!what) return [];
    const limits = {
      static_inputs: Object.fromEntries(named(({ type }) => type === "static")),
      one_of_inputs: {},
      allow_user_resources: named(({ allowUserResources }) => allowUserResources).map(([name]) => name),
    };
    return [[`${id}:${what}`, limits]];
  });
  const { triggerables: _, on_behalf_of: __, on_behalf_of_email: ___, ...kept } = base;
  return { ...kept, triggerables_v2: Object.fromEntries(triggerables) };
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
