/** Requests generated from the operations: values of path parameters, and bodies that the schemas accept. */
import * as z from "../../../../src/lib/zod/z.ts";
import { getBasePath, isGreedy, type Operation } from "../../../../src/platform/http/operation.ts";
import { listParameterNames } from "../../../../src/platform/http/path-parameters.ts";

/** @param ids values of path parameters, by name */
export function urlOf(op: Operation, ids: Record<string, string>): string {
  const greedy = isGreedy(op.path) ? listParameterNames(op.path).at(-1) : undefined;
  const path = op.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = ids[name] ?? "kept";
    return name === greedy ? value : encodeURIComponent(value);
  });
  return getBasePath(op) + path;
}

/** No body, one with the required fields, and one with all fields. */
export function bodiesOf(op: Operation, ids: Record<string, string>): (string | undefined)[] {
  if (op.method === "GET") return [undefined];
  if (!op.body) return ["{}"];
  const schema = z.toJSONSchema(op.body, { io: "input", unrepresentable: "any" }) as Schema;
  return ["{}", JSON.stringify(sample(schema, ids, false)), JSON.stringify(sample(schema, ids, true))];
}

/** A query that names items of others in every parameter that can. */
export function queryOf(op: Operation, ids: Record<string, string>): string {
  if (!op.query) return "";
  const schema = z.toJSONSchema(op.query, { io: "input", unrepresentable: "any" }) as Schema;
  const names = Object.keys(schema.properties ?? {}).filter((name) => NAMED[name] !== undefined || ids[name]);
  const pairs = names.map((name): [string, string] => [name, NAMED[name] ?? ids[name]!]);
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
}

const NAMED: Record<string, string> = {
  file_key: "kept.txt",
  runnable_id: "u/admin/kept",
  runnable_type: "ScriptPath",
  impersonate_email: "admin_acme@example.org",
  script_path: "u/admin/kept",
  all_workspaces: "true",
};

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  format?: string;
}

/** @param whole whether to include optional fields */
function sample(schema: Schema, ids: Record<string, string>, whole: boolean, name = "path"): unknown {
  const { enum: values, anyOf, oneOf, properties = {}, required = [], items, format } = schema;
  if (schema.const !== undefined) return schema.const;
  if (values) return values[0];
  const either = anyOf ?? oneOf;
  if (either) return sample(either[0]!, ids, whole, name);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "object": {
      const names = Object.keys(properties).filter((key) => whole || required.includes(key));
      return Object.fromEntries(names.map((key) => [key, sample(properties[key]!, ids, whole, key)]));
    }
    case "array":
      return items ? [sample(items, ids, whole, name)] : [];
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "string":
      if (format === "date-time") return "2030-01-01T00:00:00Z";
      if (format === "uuid") return ids.job_id;
      return ids[name] ?? NAMED[name] ?? ids.path;
    default:
      return {};
  }
}
