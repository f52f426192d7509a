/** Reads the operations of an OpenAPI document (versions 3.0 and 3.1, and Swagger 2.0). */
import { parse } from "yaml";
import { type Fields, getAt, isRecord } from "../../../../api/json.ts";

export interface Parameter {
  name: string;
  place: "path" | "query" | "header";
  isRequired: boolean;
  schema: unknown;
  about: string;
}

export interface ApiOperation {
  /** `GET /pets/{id}` */
  name: string;
  method: string;
  path: string;
  summary: string;
  parameters: Parameter[];
  /** Schema of a JSON body; undefined without one. */
  body: unknown;
  isBodyRequired: boolean;
  security: "bearer" | "basic" | { header: string } | { query: string } | { cookie: string } | undefined;
}

export interface ApiDocument {
  title: string;
  /** Base URL of the service, without a trailing slash. */
  server: string;
  operations: ApiOperation[];
  /** The whole document, to resolve references. */
  root: Fields;
}

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options"];
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Resolves `$ref` within the document; other references are left out. */
export function resolveReference(root: Fields, value: unknown, hops = 0): unknown {
  if (!isRecord(value) || typeof value.$ref !== "string") return value;
  if (hops > 20 || !value.$ref.startsWith("#/")) return {};
  const path = value.$ref
    .slice(2)
    .split("/")
    .map((each) => decodeURIComponent(each).replaceAll("~1", "/").replaceAll("~0", "~"));
  return resolveReference(root, getAt(root, path), hops + 1);
}

/** Parses an OpenAPI document in JSON or YAML. @throws Error explaining why the text is not an OpenAPI document */
export function parseApiDocument(source: string): ApiDocument {
  const root: unknown = parse(source);
  if (!isRecord(root) || !isRecord(root.paths) || !(root.openapi || root.swagger)) {
    throw new Error("This is not an OpenAPI document: it has no `openapi` and no `paths`.");
  }
  const operations = Object.entries(root.paths).flatMap(([path, item]) => {
    const entry = resolveReference(root, item);
    if (!isRecord(entry)) return [];
    return METHODS.filter((method) => isRecord(entry[method])).map((method) =>
      readOperation(root, path, method, entry, entry[method] as Fields),
    );
  });
  if (operations.length === 0) throw new Error("The document has no operations.");
  return {
    title: text(getAt(root, ["info", "title"])) || "API",
    server: findServerUrl(root),
    operations,
    root,
  };
}

function findServerUrl(root: Fields): string {
  const url = text(getAt(root, ["servers", 0, "url"]));
  if (url) return url.replace(/\/$/, "");
  const host = text(root.host);
  const scheme = text(getAt(root, ["schemes", 0])) || "https";
  return host ? `${scheme}://${host}${text(root.basePath)}`.replace(/\/$/, "") : "";
}

function readOperation(
  root: Fields,
  path: string,
  method: string,
  item: Fields,
  given: Fields,
): ApiOperation {
  const all = [item.parameters, given.parameters]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((each) => resolveReference(root, each))
    .filter(isRecord);
  const own = new Map(all.map((each) => [`${text(each.in)} ${text(each.name)}`, each]));
  const parameters = [...own.values()].flatMap((each): Parameter[] => {
    const place = each.in;
    if (place !== "path" && place !== "query" && place !== "header") return [];
    return [
      {
        name: text(each.name),
        place,
        isRequired: place === "path" || each.required === true,
        schema: each.schema ?? each,
        about: text(each.description),
      },
    ];
  });
  const { body, isRequired } = bodyOf(root, given, [...own.values()]);
  return {
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    summary: text(given.summary) || text(given.operationId) || `${method.toUpperCase()} ${path}`,
    parameters,
    body,
    isBodyRequired: isRequired,
    security: securityOf(root, given),
  };
}

function bodyOf(root: Fields, given: Fields, parameters: Fields[]): { body: unknown; isRequired: boolean } {
  const old = parameters.find((each) => each.in === "body");
  if (old) return { body: old.schema ?? {}, isRequired: old.required === true };
  const body = resolveReference(root, given.requestBody);
  const content = isRecord(body) && isRecord(body.content) ? body.content : {};
  const json = Object.entries(content).find(([type]) => /[/+]json\b/.test(type))?.[1];
  if (!isRecord(json)) return { body: undefined, isRequired: false };
  return { body: json.schema ?? {}, isRequired: isRecord(body) && body.required === true };
}

function securityOf(root: Fields, given: Fields): ApiOperation["security"] {
  const wanted = (Array.isArray(given.security) ? given.security : root.security) as unknown;
  const [name] = (Array.isArray(wanted) ? wanted : []).flatMap((each) =>
    isRecord(each) ? Object.keys(each) : [],
  );
  if (name === undefined) return undefined;
  const schemes = getAt(root, ["components", "securitySchemes"]) ?? root.securityDefinitions;
  const scheme = resolveReference(root, isRecord(schemes) ? schemes[name] : undefined);
  if (!isRecord(scheme)) return undefined;
  if (scheme.type === "basic" || scheme.scheme === "basic") return "basic";
  if (scheme.type === "apiKey" && scheme.in === "header") return { header: text(scheme.name) };
  if (scheme.type === "apiKey" && scheme.in === "query") return { query: text(scheme.name) };
  if (scheme.type === "apiKey" && scheme.in === "cookie") return { cookie: text(scheme.name) };
  // Other schemes cannot be provided by a single header.
  const isBearer = scheme.scheme === "bearer" || scheme.type === "oauth2" || scheme.type === "openIdConnect";
  return isBearer ? "bearer" : undefined;
}
