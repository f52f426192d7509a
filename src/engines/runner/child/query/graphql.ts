/** Sends a GraphQL operation to the endpoint that a resource names. The result is its `data`. */
import type { ParameterBinding } from "../../../languages/types.ts";
import { parseExactly } from "../exact.ts";
import { argumentOf, type Query, QueryError, resourceOf, without } from "./query.ts";

/** Most of an answer that is no GraphQL which an error repeats. */
const MAX_SHOWN = 500;

export function openQuery(source: string, parameters: ParameterBinding[]): Query {
  const api = parameters.find(({ name }) => name === "api")!;
  return {
    async main(args) {
      const resource = resourceOf(argumentOf(api, args), "api", "graphql");
      const given = parameters
        .filter((parameter) => parameter !== api)
        .map((parameter) => [parameter.name, argumentOf(parameter, args)] as const)
        .filter(([, value]) => value !== undefined);
      const answer = await post(resource, { query: source, variables: Object.fromEntries(given) });
      return dataOf(answer, resource);
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
      `cannot reach ${new URL(base_url).host}: ${without(bearer_token, (cause as Error).message)}`,
    );
  }
}

interface Fault {
  message?: string;
  locations?: { line?: number }[];
  path?: unknown[];
}

/** An answer with errors fails the job, also when it has data beside them (GraphQL §7.1). */
function dataOf({ status, text }: GraphqlAnswer, { bearer_token }: Record<string, unknown>): unknown {
  const { data, errors } = parse(text) ?? {};
  const [first, ...more] = errors ?? [];
  if (first) {
    const others = more.length > 0 ? ` (and ${more.length} more)` : "";
    const at = first.path ? ` at ${first.path.join(".")}` : "";
    const message = without(bearer_token, `${first.message ?? "an error without a message"}${at}${others}`);
    const line = first.locations?.[0]?.line;
    throw new QueryError(message, line === undefined ? {} : { line });
  }
  if (data !== undefined) return data;
  throw new QueryError(
    `the endpoint answered ${status} with what is no GraphQL: ${without(bearer_token, text.slice(0, MAX_SHOWN))}`,
  );
}

function parse(text: string): { data?: unknown; errors?: Fault[] } | undefined {
  try {
    const value = parseExactly(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
