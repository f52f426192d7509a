/**
 * Rewrites JSON that refers to paths below `u/<from>/` to `u/<to>/`. Only strings in known path positions are changed.
 * Values given as data keep their text, except for references, which are recognized anywhere.
 */
import { isContainer, isJsonObject, parseJson } from "../../../lib/json/json.ts";
import type { JsonForm, RenameParameters } from "../../../platform/app/person.ts";

/** Fields that hold data given by users. */
const DATA_FIELDS = new Set(["args", "default", "extra_args", "flow_env", "return_value", "schema"]);
const EXPRESSION_FIELDS = new Set(["expr", "skip_expr"]);

type RewriteText = (text: string) => string;

/** Creates the parameters of a renaming, with functions that rewrite JSON. */
export function createRenaming(names: Omit<RenameParameters, "rewrite">): RenameParameters {
  return { ...names, rewrite: createRewriters(names.from, names.to) };
}

/** Creates the rewriter. @param from a username, like `to`; needs no escaping in regular expressions */
export function createRewriters(from: string, to: string): Record<JsonForm, (json: string) => string> {
  const prefix = `u/${from}/`;
  const moved = (pattern: string, flags = "") => {
    const mention = new RegExp(`${pattern}${prefix}`, flags);
    return (text: string) => text.replace(mention, `$1u/${to}/`);
  };
  const path = moved("^()");
  const reference = moved("^(\\$(?:var|jsonvar|res):)");
  const name = moved("^((?:script/|flow/|\\$(?:var|jsonvar|res|script|flow):)?)");
  const quoted = moved("([\"'`](?:\\$(?:var|jsonvar|res):)?)", "g");
  const component = moved("^((?:[^]*:)?(?:script|flow)/)");
  const references = (value: unknown) => rewriteStrings(value, () => reference);

  function inFlow(value: unknown): unknown {
    if (!isContainer(value)) return value;
    if (Array.isArray(value))
      return value.map((inner) => (typeof inner === "string" ? reference(inner) : inFlow(inner)));
    const isStatic = value.type === "static";
    return mapFields(value, (key, inner) => {
      if (DATA_FIELDS.has(key) || (isStatic && key === "value")) return references(inner);
      if (typeof inner !== "string") return inFlow(inner);
      if (key === "path") return path(reference(inner));
      return EXPRESSION_FIELDS.has(key) ? quoted(inner) : reference(inner);
    });
  }

  function inPolicy(policy: unknown): unknown {
    if (!isJsonObject(policy)) return policy;
    return mapFields(policy, (key, inner) => {
      if (key === "on_behalf_of") return inner === `u/${from}` ? `u/${to}` : inner;
      if (!key.startsWith("triggerables") || !isJsonObject(inner)) return references(inner);
      const entries = Object.entries(inner).map(([of, given]) => [component(of), references(given)]);
      return Object.fromEntries(entries);
    });
  }

  function inStorage(value: unknown): unknown {
    if (!isContainer(value)) return value;
    if (Array.isArray(value)) return value.map(inStorage);
    return mapFields(value, (key, inner) => {
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
    names: inText((value) => rewriteStrings(value, (isData) => (isData ? reference : name))),
    policy: inText(inPolicy),
    storage: inText(inStorage),
  };
}

/** Returns the value with its strings rewritten. @param by gets true for strings that are data */
function rewriteStrings(value: unknown, by: (isData: boolean) => RewriteText, isData = false): unknown {
  if (typeof value === "string") return by(isData)(value);
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map((inner) => rewriteStrings(inner, by, isData));
  return mapFields(value, (key, inner) => rewriteStrings(inner, by, isData || DATA_FIELDS.has(key)));
}

function mapFields(
  object: Record<string, unknown>,
  by: (key: string, value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, by(key, value)]));
}
