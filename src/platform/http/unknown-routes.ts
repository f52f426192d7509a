/** Responses to URLs that the router does not match. */
import { addRoute, createRouter, findAllRoutes, findRoute } from "rou3";
import { MethodNotAllowed, NotFound, type SvcError } from "../../lib/errors.ts";
import { getBasePath, isGreedy, type Operation } from "./operation.ts";

interface MatchedOperation {
  op: Operation;
  parameters: Record<string, string>;
}

export interface UnknownRoutes {
  /**
   * Finds the operation of a URL with a doubled slash, which the router rejects. Clients insert paths unencoded, and
   * some begin with a slash: `variables/get//u/ann/key`.
   */
  findWithExtraSlash(method: string, pathname: string): MatchedOperation | undefined;
  /** Returns 405 if the URL exists with other methods, else 404. */
  createRouteError(method: string, pathname: string): SvcError;
}

export function createUnknownRoutes(operations: readonly Operation[]): UnknownRoutes {
  const router = createRouter<Operation>();
  const methods = [...new Set(operations.map((op) => op.method))].sort();
  for (const op of operations) addRoute(router, op.method, getBasePath(op) + toRouterPath(op.path), op);
  const withExtraSlash = (method: string, pathname: string): MatchedOperation | undefined => {
    const slashes = pathname.indexOf("//");
    if (slashes < 0) return undefined;
    const single = pathname.slice(0, slashes) + pathname.slice(slashes).replace(/^\/+/, "/");
    // The last match is the most literal route.
    for (const { data: op, params = {} } of findAllRoutes(router, method, single).reverse()) {
      const tail = Object.values(params).at(-1);
      // Only if the doubled slash is where the path parameter begins.
      if (isGreedy(op.path) && tail && single.length - tail.length === slashes + 1) {
        return { op, parameters: params };
      }
    }
    return undefined;
  };
  return {
    findWithExtraSlash: withExtraSlash,
    createRouteError(method, pathname) {
      const isThere = (other: string) =>
        findRoute(router, other, pathname) ?? withExtraSlash(other, pathname);
      const allow = methods.filter(isThere).join(", ");
      if (allow !== "")
        return new MethodNotAllowed(`there is no ${method} ${pathname}, only ${allow}`, allow);
      return new NotFound(`there is no ${method} ${pathname}`, {
        hint: "GET /api/openapi.yaml lists all operations",
      });
    },
  };
}

/**
 * Returns the parts of a path that select its router, such as `api/users` or `api/w/jobs`. Paths of operations have no
 * parameters there, apart from the workspace.
 * @param path of a URL, or an operation's template
 */
export function findNoun(path: string): string {
  const [, first = "", second = "", , fourth = ""] = path.split("/", 5);
  if (first !== "api") return first;
  return second === "w" ? `api/w/${fourth}` : `api/${second}`;
}

/**
 * Converts a path template to the router's form: `/w/{workspace}/variables/get/{path}` →
 * `/w/:workspace/variables/get/**:path`.
 */
export function toRouterPath(path: string): string {
  const greedy = isGreedy(path);
  return path.replace(/\{(\w+)\}/g, (_, name, offset) =>
    greedy && offset + name.length + 2 === path.length ? `**:${name}` : `:${name}`,
  );
}
