/**
 * Syntax and matching of HTTP routes. A route consists of literal parts, `:name` for any one part, and `*name` at the
 * end for all remaining parts. If several match, the more literal one wins, compared part by part from the left.
 */
import { BadRequest } from "../../../lib/errors.ts";
import { removeTrailingSlashes } from "../../../lib/text/slashes.ts";

const LITERAL = /^[\w.~!$&'()+,;=@-]+$/;
const PARAMETER = /^:[A-Za-z_]\w{0,49}$/;
const REST = /^\*([A-Za-z_]\w{0,49})?$/;
const MAX_ROUTE_CHARS = 500;
const MAX_PARTS = 30;
/** Name of a `*` without a name. */
const DEFAULT_REST_NAME = "path";

/**
 * Normalises a route to its stored form, without slashes at the ends.
 * @throws BadRequest saying which part is wrong
 */
export function parseRoute(given: string): string {
  const route = removeTrailingSlashes(given.trim().replace(/^\/+/, ""));
  const refuse = (why: string) =>
    new BadRequest(`\`route_path\`: "${given.slice(0, 100)}" cannot be a route: ${why}`);
  if (route === "") throw refuse("it is empty");
  const parts = route.split("/");
  if (route.length > MAX_ROUTE_CHARS || parts.length > MAX_PARTS) throw refuse("it is too long");
  for (const [at, part] of parts.entries()) {
    const isRest = REST.test(part);
    if (isRest && at < parts.length - 1) throw refuse(`"${part}" takes all that follows: it must be last`);
    if (part === "." || part === "..") throw refuse("no client sends a part that is `.` or `..`");
    if (!isRest && !PARAMETER.test(part) && !LITERAL.test(part)) {
      throw refuse(`"${part}" must be plain text, :name for any one part, or *name for all the rest`);
    }
  }
  const names = parts.flatMap((part) => (isLiteral(part) ? [] : [nameOf(part)]));
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw refuse(`the name ${twice} stands in it twice`);
  return route;
}

const isLiteral = (part: string) => !part.startsWith(":") && !part.startsWith("*");
const nameOf = (part: string) => part.slice(1) || DEFAULT_REST_NAME;

/** The columns that determine a route's place. */
export interface RoutePlace {
  workspace_id: string;
  route_path: string;
  workspaced_route: boolean;
  is_static_website: boolean;
}

/** Returns the first part of the route if it is literal; undefined if it is a parameter. */
export function getFirstLiteralPart(route: RoutePlace): string | undefined {
  const first = listPatterns(route)[0]![0]!;
  return isLiteral(first) ? first : undefined;
}

/** Lists the route's patterns below `/api/r/`. A website matches its own place and everything below it. */
function listPatterns(route: RoutePlace): string[][] {
  const { workspace_id, route_path, workspaced_route, is_static_website } = route;
  const parts = route_path.split("/");
  const place = workspaced_route ? [workspace_id, ...parts] : parts;
  return is_static_website ? [place, [...place, "*"]] : [place];
}

/** Lists texts that are equal for places which match the same requests. */
export function listShapes(route: RoutePlace): string[] {
  return listPatterns(route).map((place) =>
    place.map((part) => (isLiteral(part) ? part : part[0])).join("/"),
  );
}

interface Node<T> {
  literal: Map<string, Node<T>>;
  any: Node<T> | undefined;
  /** Routes that end here, and routes with a `*` here, by method. */
  end: Map<string, Entry<T>>;
  rest: Map<string, Entry<T>>;
}

interface Entry<T> {
  route: T;
  names: string[];
}

export interface RouteMatch<T> {
  route: T;
  params: Record<string, string>;
  /** Path of a website's file relative to its place, without a leading slash; undefined at the place itself. */
  below: string | undefined;
}

type Routed = RoutePlace & { http_method: string };

/** A prefix tree of routes: a look-up takes as many steps as the path has parts. */
export class RouteTable<T extends Routed> {
  readonly #root: Node<T> = newNode();

  /** Adds a route. Of two at the same place the first is kept. */
  add(route: T): void {
    for (const place of listPatterns(route)) {
      let node = this.#root;
      const last = place.at(-1)!;
      const isRest = last.startsWith("*");
      for (const part of isRest ? place.slice(0, -1) : place) node = step(node, part);
      const names = place.filter((part) => !isLiteral(part)).map(nameOf);
      const entries = isRest ? node.rest : node.end;
      if (!entries.has(route.http_method)) entries.set(route.http_method, { route, names });
    }
  }

  /** Finds the route of a request. @param parts of the path, decoded @param method in lower case */
  find(method: string, parts: readonly string[]): RouteMatch<T> | undefined {
    return walk(this.#root, parts, 0, [], (entries, values, below) => {
      const entry = entries.get(method);
      if (!entry) return undefined;
      const { names, route } = entry;
      return { route, params: Object.fromEntries(names.map((name, at) => [name, values[at]!])), below };
    });
  }

  /** Lists the routes of the method that match some request which this one matches too. */
  overlapping(route: Routed): T[] {
    const found = new Set<T>();
    for (const place of listPatterns(route)) {
      for (const entries of walkOverlapping(this.#root, place, 0)) {
        const entry = entries.get(route.http_method);
        if (entry) found.add(entry.route);
      }
    }
    return [...found];
  }

  /** Lists the methods of all routes that match a path. */
  methodsAt(parts: readonly string[]): string[] {
    const methods = new Set<string>();
    walk(this.#root, parts, 0, [], (entries) => {
      for (const method of entries.keys()) methods.add(method);
      return undefined;
    });
    return [...methods].sort();
  }
}

/** Yields the entries that some path reaches which also matches the place. A `*` matches at least one more part. */
function* walkOverlapping<T>(
  node: Node<T>,
  place: readonly string[],
  at: number,
): Generator<Map<string, Entry<T>>> {
  const part = place[at];
  if (part === undefined) {
    yield node.end;
    return;
  }
  yield node.rest;
  const isRest = part.startsWith("*");
  const below = isLiteral(part) ? [node.literal.get(part), node.any] : [...node.literal.values(), node.any];
  for (const next of below) {
    if (!next) continue;
    if (isRest) yield next.end;
    yield* walkOverlapping(next, place, isRest ? at : at + 1);
  }
}

function newNode<T>(): Node<T> {
  return { literal: new Map(), any: undefined, end: new Map(), rest: new Map() };
}

function step<T>(node: Node<T>, part: string): Node<T> {
  if (!isLiteral(part)) {
    node.any ??= newNode();
    return node.any;
  }
  let next = node.literal.get(part);
  if (!next) {
    next = newNode();
    node.literal.set(part, next);
  }
  return next;
}

type Take<T> = (
  entries: Map<string, Entry<T>>,
  values: readonly string[],
  below: string | undefined,
) => RouteMatch<T> | undefined;

/** Matches literal parts first, then parameters, then `*`, with backtracking. */
function walk<T>(
  node: Node<T>,
  parts: readonly string[],
  at: number,
  values: readonly string[],
  take: Take<T>,
): RouteMatch<T> | undefined {
  if (at === parts.length) return take(node.end, values, undefined);
  const part = parts[at]!;
  const literal = node.literal.get(part);
  const found = literal && walk(literal, parts, at + 1, values, take);
  if (found) return found;
  const any = node.any && walk(node.any, parts, at + 1, [...values, part], take);
  if (any) return any;
  const rest = parts.slice(at).join("/");
  return take(node.rest, [...values, rest], rest);
}
