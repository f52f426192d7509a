/** Compares two folders of a workspace's items by the meaning of their files. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parse } from "yaml";
import { isIncluded, parseFolderSettings } from "../../../cli/sync/read/folder-settings.ts";
import { readSettingsForm } from "../../../cli/sync/read/settings-form.ts";

/** Files of items, by name; a repository's other files are not part of a workspace. */
const ITEM_FILES = [
  /^[fug]\/.*\.(?:script|resource|variable|schedule|\w+_trigger)\.(?:ya?ml|json)$/,
  /^[fug]\/.*(?:\.|__)(?:flow|app)\/(?:flow|app)\.(?:ya?ml|json)$/,
  /^f\/[^/]+\/folder\.meta\.(?:ya?ml|json)$/,
  /^[fug]\/.*\.(?:ts|py|sh|sql|gql|go|php|rs|ps1|rb)$/,
  /^[^/]+\.resource-type\.(?:ya?ml|json)$/,
  /^(?:settings|encryption_key)\.ya?ml$/,
  /^dependencies\//,
  /^[fug]\/.*(?:\.|__)raw_app\/(?!(?:package-lock\.json|(?:DATATABLES|AGENTS)\.md|wmill\.d\.ts)$|(?:dist|sql_to_apply)\/|\.)/,
];
/** Code of steps is compared with the flow or app that names it. */
const INSIDE = /(?:\.|__)(?:flow|app)\/(?!(?:flow|app)\.(?:ya?ml|json)$)/;

/** Fields that clients compute from the code when they push, whatever the file contains, and do not write. */
const COMPUTED =
  /\.(?:no_main_func|has_preprocessor|policy|public|path|(?:runnable|hiddenInlineScripts\[\d+\])\.type)$|^\.name$/;

/** Lists the differences between a pushed folder and the pulled one, one line each. */
export function listDifferences(sent: string, back: string): string[] {
  const isTaken = readSelection(sent);
  const before = listItemFiles(sent, isTaken);
  const after = listItemFiles(back, isTaken);
  const all = [...new Set([...before.keys(), ...after.keys()])].sort();
  return all.flatMap((name) => {
    if (!after.has(name)) return [`${name}: is missing`];
    if (!before.has(name)) return [`${name}: is new`];
    return compare(join(sent, before.get(name)!), join(back, after.get(name)!), [sent, back]).map(
      (what) => `${name}: ${what}`,
    );
  });
}

/** Reads the file selection in the folder's wmill.yaml. */
function readSelection(root: string): (name: string) => boolean {
  const file = join(root, "wmill.yaml");
  const said = existsSync(file) ? ((parse(readFileSync(file, "utf8")) ?? {}) as Record<string, unknown>) : {};
  const settings = parseFolderSettings(said);
  const skipped = [
    ...(said.skipResources ? [/\.resource\./] : []),
    ...(said.skipVariables || said.skipSecrets ? [/\.variable\./] : []),
  ];
  return (name) => isIncluded(settings, name) && !skipped.some((each) => each.test(name));
}

/** Lists the files of items by name; one in JSON by the name it would have in YAML. */
function listItemFiles(root: string, isTaken: (name: string) => boolean): Map<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((name) => ITEM_FILES.some((each) => each.test(name)) && isTaken(name))
    .filter((name) => !INSIDE.test(name) && !/(?:^|\/)node_modules\//.test(name));
  return new Map(
    files.map((name) => [name.replace(/(?<=\.(?:resource|variable|schedule))\.json$/, ".yaml"), name]),
  );
}

function compare(sent: string, back: string, roots: [string, string]): string[] {
  const one = readFileSync(sent, "utf8");
  const other = readFileSync(back, "utf8");
  if (one === other) return [];
  if (!/\.(?:ya?ml|json)$/.test(sent)) return one.trim() === other.trim() ? [] : ["other text"];
  try {
    const mean = (value: unknown) =>
      /\/settings\.ya?ml$/.test(sent) && isObject(value) ? readSettingsForm(value).fields : value;
    return differ(
      mean(insert(parse(one), roots[0], dirname(sent))),
      mean(insert(parse(other), roots[1], dirname(back))),
      "",
    );
  } catch (cause) {
    return [`is not YAML: ${(cause as Error).message.split("\n")[0]}`];
  }
}

/** Replaces the names of steps' files, which the client chooses, by their code. */
function insert(value: unknown, root: string, folder: string): unknown {
  if (typeof value === "string" && value.startsWith("!inline ")) {
    const name = value.slice("!inline ".length).trim();
    // Steps name files of their folder, scripts name them from the root. A missing file counts as an empty one.
    const file = [join(folder, name), join(root, name)].find((each) => existsSync(each));
    return file === undefined ? "" : readFileSync(file, "utf8").trim();
  }
  if (Array.isArray(value)) return value.map((each) => insert(each, root, folder));
  if (typeof value !== "object" || value === null) return typeof value === "string" ? value.trim() : value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, insert(each, root, folder)]));
}

function differ(one: unknown, other: unknown, at: string): string[] {
  if (Bun.deepEquals(one, other) || COMPUTED.test(at)) return [];
  if (at === ".kind" && one === undefined && other === "script") return [];
  // Empty values are equal to missing ones, and locks are resolved for code without one.
  if (isEmpty(one) && (isEmpty(other) || at.endsWith(".lock"))) return [];
  // The type of an input of an app's runnable follows from its reference.
  if (/^\.fields\.\w+\.type$/.test(at) && other === undefined) return [];
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) => differ(one[name], other[name], `${at}.${name}`));
  }
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    return one.flatMap((each, n) => differ(each, other[n], `${at}[${n}]`));
  }
  return [`${at} ${brief(one)} -> ${brief(other)}`];
}

const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === false || value === "" || value === 0;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const brief = (value: unknown) => JSON.stringify(value)?.slice(0, 70) ?? "nothing";
