/** What is said of a URL that the router has no operation for. */
import { addRoute, createRouter, findAllRoutes, findRoute } from "rou3";
import { MethodNotAllowed, NotFound, type SvcError } from "../../lib/errors.ts";
import { isGreedy, type Operation, rootOf } from "./operation.ts";

interface Slashed {
  op: Operation;
  parameters: Record<string, string>;
}

export interface Unrouted {
  /**
   * Finds the operation of a URL with an extra slash. Clients put paths into URLs as they are, and some begin with one:
   * `variables/get//u/ann/key`. The router knows no empty segments.
   */
  withExtraSlash(method: string, pathname: string): Slashed | undefined;
  /** 405 where other methods have an operation, else 404. */
  noRoute(method: string, pathname: string): SvcError;
}

export function createUnrouted(operations: readonly Operation[]): Unrouted {
  const router = createRouter<Operation>();
  const methods = [...new Set(operations.map((op) => op.method))].sort();
  for (const op of operations) addRoute(router, op.method, rootOf(op) + toRoute(op.path), op);
  const withExtraSlash = (method: string, pathname: string): Slashed | undefined => {
    const slashes = pathname.indexOf("//");
    if (slashes < 0) return undefined;
    const single = pathname.slice(0, slashes) + pathname.slice(slashes).replace(/^\/+/, "/");
    // The most literal one comes last.
    for (const { data: op, params = {} } of findAllRoutes(router, method, single).reverse()) {
      const tail = Object.values(params).at(-1);
      // Only where the path begins.
      if (isGreedy(op.path) && tail && single.length - tail.length === slashes + 1) {
        return { op, parameters: params };
      }
    }
    return undefined;
  };
  return {
    withExtraSlash,
    noRoute(method, pathname) {
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

/** `/w/{workspace}/variables/get/{path}` → `/w/:workspace/variables/get/**:path` */
export function toRoute(path: string): string {
  const greedy = isGreedy(path);
  return path.replace(/\{(\w+)\}/g, (_, name, offset) =>
    greedy && offset + name.length + 2 === path.length ? `**:${name}` : `:${name}`,
  );
}
