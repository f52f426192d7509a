/**
 * JSON in which paths below `u/<from>/` are mentioned, rewritten to mention `u/<to>/`. Paths are looked for where they are
 * paths: a value that somebody gave as data keeps its texts, except for references, which are references anywhere.
 */
import { isContainer, isJsonObject, parseJson } from "../../../lib/json/json.ts";
import type { JsonForm, Renaming } from "../../../platform/app/person.ts";

/** Members that hold what somebody gave as data. */
const DATA = new Set(["args", "default", "extra_args", "flow_env", "return_value", "schema"]);
const EXPRESSIONS = new Set(["expr", "skip_expr"]);

type Change = (text: string) => string;

/** A renaming with its rewriters. */
export function renamingOf(names: Omit<Renaming, "rewrite">): Renaming {
  return { ...names, rewrite: createRewriters(names.from, names.to) };
}

/** @param from a username, as `to` is: no character of it needs escaping */
export function createRewriters(from: string, to: string): Record<JsonForm, (json: string) => string> {
  const prefix = `u/${from}/`;
  const moved = (pattern: string, flags = "") => {
    const mention = new RegExp(`${pattern}${prefix}`, flags);
    return (text: string) => text.replace(mention, `$1u/${to}/`);
  };
  const path = moved("^()");
  const reference = moved("^(\\$(?:var|jsonvar|res):)");
  const name = moved("^((?:script/|flow/|\\$(?:var|jsonvar|res):)?)");
  const quoted = moved("([\"'`](?:\\$(?:var|jsonvar|res):)?)", "g");
  const component = moved("^((?:[^]*:)?(?:script|flow)/)");
  const references = (value: unknown) => changed(value, () => reference);

  function inFlow(value: unknown): unknown {
    if (!isContainer(value)) return value;
    if (Array.isArray(value))
      return value.map((inner) => (typeof inner === "string" ? reference(inner) : inFlow(inner)));
    const isStatic = value.type === "static";
    return mapMembers(value, (key, inner) => {
      if (DATA.has(key) || (isStatic && key === "value")) return references(inner);
      if (typeof inner !== "string") return inFlow(inner);
      if (key === "path") return path(reference(inner));
      return EXPRESSIONS.has(key) ? quoted(inner) : reference(inner);
    });
  }

  function inPolicy(policy: unknown): unknown {
    if (!isJsonObject(policy)) return policy;
    return mapMembers(policy, (key, inner) => {
      if (key === "on_behalf_of") return inner === `u/${from}` ? `u/${to}` : inner;
      if (!key.startsWith("triggerables") || !isJsonObject(inner)) return references(inner);
      const entries = Object.entries(inner).map(([of, given]) => [component(of), references(given)]);
      return Object.fromEntries(entries);
    });
  }

  function inStorage(value: unknown): unknown {
    if (!isContainer(value)) return value;
    if (Array.isArray(value)) return value.map(inStorage);
    return mapMembers(value, (key, inner) => {
      if (typeof inner !== "string") return inStorage(inner);
      return key === "s3_resource_path" ? path(reference(inner)) : reference(inner);
    });
  }

  const inText = (rewrite: (value: unknown) => unknown) => (json: string) => {
    const before = parseJson(json);
    const after = JSON.stringify(rewrite(before));
    return after === JSON.stringify(before) ? json : after;
  };
  return {
    references: inText(references),
    flow: inText(inFlow),
    names: inText((value) => changed(value, (isData) => (isData ? reference : name))),
    policy: inText(inPolicy),
    storage: inText(inStorage),
  };
}

/** The same value with its texts changed. @param by is told whether the text was given as data */
function changed(value: unknown, by: (isData: boolean) => Change, isData = false): unknown {
  if (typeof value === "string") return by(isData)(value);
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map((inner) => changed(inner, by, isData));
  return mapMembers(value, (key, inner) => changed(inner, by, isData || DATA.has(key)));
}

function mapMembers(
  object: Record<string, unknown>,
  by: (key: string, value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, by(key, value)]));
}
