/** Runs GraphQL operations against the endpoint of a resource. The result is the response's `data`. */
import type { ParameterBinding } from "../../../languages/types.ts";
import { parseExactly } from "../exact.ts";
import { type Query, QueryError, readArgument, redactPassword, toResource } from "./query.ts";

/** Maximum length of a non-GraphQL response quoted in an error. */
const MAX_SHOWN_CHARACTERS = 500;

export function openQuery(source: string, parameters: ParameterBinding[]): Query {
  const api = parameters.find(({ name }) => name === "api")!;
  return {
    async main(args) {
      const resource = toResource(readArgument(api, args), "api", "graphql");
      const given = parameters
        .filter((parameter) => parameter !== api)
        .map((parameter) => [parameter.name, readArgument(parameter, args)] as const)
        .filter(([, value]) => value !== undefined);
      const answer = await post(resource, { query: source, variables: Object.fromEntries(given) });
      return readData(answer, resource);
    },
  };
}

interface GraphqlAnswer {
  status: number;
  text: string;
}

async function post(resource: Record<string, unknown>, body: object): Promise<GraphqlAnswer> {
  const { base_url, bearer_token, custom_headers } = resource;
  if (typeof base_url !== "string" || !/^https?:\/\//.test(base_url)) {
    throw new QueryError(
      "the resource of argument api has no `base_url` that begins with http:// or https://",
    );
  }
  const headers = new Headers({ "content-type": "application/json", accept: "application/json" });
  if (typeof bearer_token === "string" && bearer_token !== "")
    headers.set("authorization", `Bearer ${bearer_token}`);
  if (typeof custom_headers === "object" && custom_headers !== null) {
    for (const [name, value] of Object.entries(custom_headers)) headers.set(name, String(value));
  }
  try {
    const response = await fetch(base_url, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    throw new QueryError(
      `cannot reach ${new URL(base_url).host}: ${redactPassword(bearer_token, (cause as Error).message)}`,
    );
  }
}

interface GraphqlError {
  message?: string;
  locations?: { line?: number }[];
  path?: unknown[];
}

/** Returns the response's data. Errors fail the job even beside data (GraphQL §7.1). */
function readData({ status, text }: GraphqlAnswer, { bearer_token }: Record<string, unknown>): unknown {
  const { data, errors } = parse(text) ?? {};
  const [first, ...more] = errors ?? [];
  if (first) {
    const others = more.length > 0 ? ` (and ${more.length} more)` : "";
    const at = first.path ? ` at ${first.path.join(".")}` : "";
    const message = redactPassword(
      bearer_token,
      `${first.message ?? "an error without a message"}${at}${others}`,
    );
    const line = first.locations?.[0]?.line;
    throw new QueryError(message, line === undefined ? {} : { line });
  }
  if (data !== undefined) return data;
  throw new QueryError(
    `the endpoint answered ${status} with a response that is not GraphQL: ${redactPassword(bearer_token, text.slice(0, MAX_SHOWN_CHARACTERS))}`,
  );
}

function parse(text: string): { data?: unknown; errors?: GraphqlError[] } | undefined {
  try {
    const value = parseExactly(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
