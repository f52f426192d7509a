/**
 * An operation is declared once. From the declaration come its route, the check of its input, who may call it, its
 * audit row, its entry in /api/openapi.yaml and the typed call the CLI makes.
 */
import { z } from "zod";
import type { Audit, Context, UserContext, WorkspaceContext } from "../app/context.ts";

export type Method = "GET" | "POST" | "DELETE" | "PUT" | "PATCH";

/**
 * Who may call:
 * - anyone: no credentials needed, though they are read when given
 * - user: any valid token
 * - member: a member of the path's workspace, operators included
 * - author: a member who is no operator (operators run and view only)
 * - admin: an admin of the path's workspace
 * - devops: who looks after the instance, to read; super admins too
 * - superAdmin: of the whole instance
 */
export type Access = "anyone" | "user" | "member" | "author" | "admin" | "devops" | "superAdmin";

/** What the session's cookie is worth to an operation; `last`: a token in the query counts before it. */
export type CookieRule = "counts" | "last" | "ignored";

/** How an answer is written. */
export type Responds<R> =
  | { kind: "text"; status: number; description: string; _?: R }
  | { kind: "json"; status: number; schema: z.ZodType; description: string | undefined; _?: R }
  /** The operation writes the Response itself: streams, files, results of user code. */
  | { kind: "raw"; status: number; content_type: string; description: string; _?: R };

export const responds = {
  text: (description: string): Responds<string> => ({ kind: "text", status: 200, description }),
  created: (description: string): Responds<string> => ({ kind: "text", status: 201, description }),
  /** JSON, of an operation that makes something. */
  createdJson: <S extends z.ZodType>(schema: S, description?: string): Responds<z.input<S>> => ({
    kind: "json",
    status: 201,
    schema,
    description,
  }),
  /** @param description left out where the schema and the summary say it all */
  json: <S extends z.ZodType>(schema: S, description?: string): Responds<z.input<S>> => ({
    kind: "json",
    status: 200,
    schema,
    description,
  }),
  raw: (content_type: string, description: string): Responds<Response> => ({
    kind: "raw",
    status: 200,
    content_type,
    description,
  }),
};

/** Bodies that `run` reads from the request itself: what each content type holds. Any may be left out by the caller. */
export type Reads = Record<string, z.ZodType>;

/** What a scoped token needs: `domain:action`, and the resource it must cover where the path names one. */
export interface Scope {
  domain: string;
  action: "read" | "write" | "run";
  /** Jobs only: which kind of runnable is run. */
  kind?: "scripts" | "flows";
  /** Jobs only: tells of many at once, which the right to run one does not include. */
  many?: true;
  /** The path parameter that holds the resource. */
  resource?: string;
}

type ParameterNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never;

export type PathInput<P extends string> = { [K in ParameterNames<P>]: string };
type QueryInput<Q> = Q extends z.ZodType ? { query: z.output<Q> } : object;
type BodyInput<B> = B extends z.ZodType ? { body: z.output<B> } : object;
export type Input<P extends string, Q, B> = PathInput<P> & QueryInput<Q> & BodyInput<B>;

type ContextOf<A extends Access> = A extends "anyone"
  ? Context
  : A extends "user" | "devops" | "superAdmin"
    ? UserContext
    : WorkspaceContext;

/** What an operation answers, where headers say more of it. */
export class Answered<R> {
  readonly value: R;
  readonly headers: Record<string, string>;

  constructor(value: R, headers: Record<string, string>) {
    this.value = value;
    this.headers = headers;
  }
}

export interface Declaration<A extends Access, P extends string, Q, B, R> {
  /** The operationId: unique, camelCase. */
  name: string;
  method: Method;
  /** Below /api; the last parameter is greedy when it is called `path` or ends in `_path`. */
  path: P;
  access: A;
  summary: string;
  query?: Q;
  /** The JSON body; left out when there is none, or when `run` reads the request itself. */
  body?: B;
  /** What `run` reads from the request itself, for the description: nothing is checked by it. */
  reads?: Reads;
  responds: Responds<R>;
  /** Left out on operations that only read. */
  audit?: Audit;
  /** Derived from path and method when left out; false exempts the operation from scopes (login, whoami). */
  scope?: Scope | false;
  /** A token bound to a workspace may call it, though it concerns none. */
  bound?: boolean;
  /** Answers nothing but what its own, finished writes say: no other write has to be on disk first. */
  ownWrites?: boolean;
  /**
   * Allows any origin: job runs, results and approvals are called from pages elsewhere. `any method`: by every method,
   * with every header; HEAD is then answered as GET is.
   */
  cors?: boolean | "any method";
  /** Asked for all the time by probes, and cheap: calls without known credentials are not counted. */
  uncounted?: boolean;
  /**
   * What the session's cookie is worth. A browser sends it along with any link: where a GET changes something, or starts
   * a script, it must be `ignored`.
   */
  cookie?: CookieRule;
  /** A page for people: its path stands at the root, not below /api, and it is no part of the described interface. */
  page?: boolean;
  run: (ctx: ContextOf<A>, input: Input<P, Q, B>) => Promise<R | Answered<R>> | R | Answered<R>;
}

/** A declaration with its types worn off, as lists of operations hold it. */
export interface Operation {
  name: string;
  method: Method;
  path: string;
  access: Access;
  summary: string;
  query?: z.ZodType | undefined;
  body?: z.ZodType | undefined;
  reads?: Reads | undefined;
  responds: Responds<unknown>;
  audit?: Audit | undefined;
  scope?: Scope | false | undefined;
  bound?: boolean | undefined;
  ownWrites?: boolean | undefined;
  cors?: boolean | "any method" | undefined;
  uncounted?: boolean | undefined;
  cookie?: CookieRule | undefined;
  page?: boolean | undefined;
  run: (ctx: never, input: never) => unknown;
}

/** An operation that remembers the types of what it takes and gives: what the typed call needs. */
export interface TypedOperation<I, R> extends Operation {
  readonly _types?: { input: I; result: R };
}

type CallInput<P extends string, Q, B> = PathInput<P> &
  (Q extends z.ZodType ? { query?: z.input<Q> } : object) &
  (B extends z.ZodType ? { body: z.input<B> } : object);

export function operation<
  const A extends Access,
  const P extends string,
  R,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(declaration: Declaration<A, P, Q, B, R>): TypedOperation<CallInput<P, Q, B>, R> {
  return declaration as unknown as TypedOperation<CallInput<P, Q, B>, R>;
}

/** The same operation where existing clients look for it, too. */
export function alsoAt(op: Operation, { name, path }: Pick<Operation, "name" | "path">): Operation {
  return { ...op, name, path };
}

/** Where an operation stands: pages at the root, all else below /api. */
export function rootOf(op: Pick<Operation, "page">): "" | "/api" {
  return op.page ? "" : "/api";
}

/** Names of the `{parameters}` of a path template, in order. */
export function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}

/** True when the last parameter takes the rest of the URL, slashes included. */
export function isGreedy(path: string): boolean {
  return /\{(\w+_)?path\}$/.test(path);
}

/** The scope an operation asks of a restricted token: as declared, or the path's noun with read or write. */
export function scopeOf(op: Operation): Scope | false {
  if (op.scope !== undefined) return op.scope;
  const parts = op.path.split("/").filter((part) => part !== "" && part !== "w" && !part.startsWith("{"));
  const resource = parameterNames(op.path).find((name) => name === "path");
  return {
    domain: (parts[0] ?? "").replace(/_u$/, ""),
    action: op.method === "GET" ? "read" : "write",
    ...(resource ? { resource } : {}),
  };
}

/** A boolean of a query string: `true`, `1` or empty mean yes. */
export const flag = z.union(
  [
    z
      .enum(["true", "false", "1", "0", ""])
      .transform((text) => text === "true" || text === "1" || text === ""),
    z.boolean(),
  ],
  { error: "must be true or false" },
);

/** A body that may be left out as a whole: an empty object then. Any other that is missing is refused. */
export const optionalBody = <T extends z.ZodType>(schema: T) => schema.prefault({} as z.input<T>);

/** Whether a call without a body is refused. */
export function needsBody({ body }: Pick<Operation, "body">): boolean {
  return body !== undefined && !body.safeParse(undefined).success;
}

/** A whole number of a query string. */
export const wholeNumber = z.coerce.number().int();

/** Seconds in a query string: a century at most, so that the moment they lead to can be stored. */
export const seconds = wholeNumber.min(0).max(3_155_760_000);

/** However far a list goes, its rows are counted in numbers that databases hold. */
const MAX_PAGE = 1_000_000_000;

/** Page and page size of lists: page 0 is page 1; a larger page than allowed is refused, never cut. */
export const paging = {
  page: wholeNumber.min(0).max(MAX_PAGE).default(1),
  per_page: wholeNumber.min(1).max(10_000).default(1000),
};

/** Turns page and page size into the rows to skip and take. */
export function toWindow(query: { page: number; per_page: number }): { offset: number; limit: number } {
  return { offset: (Math.max(query.page, 1) - 1) * query.per_page, limit: query.per_page };
}

/** The page of a list that is at hand as a whole. */
export function pageOf<T>(rows: readonly T[], query: { page: number; per_page: number }): T[] {
  const { offset, limit } = toWindow(query);
  return rows.slice(offset, offset + limit);
}

/** A moment on the wire: a Date in code, ISO 8601 text in JSON. No database takes one before the year 1. */
export const moment = z
  .union([z.date(), z.iso.datetime({ offset: true }).transform((text) => new Date(text))], {
    error: "must be a moment such as 2030-01-31T09:00:00Z",
  })
  .refine(isStorable, "must be a moment in the years 1 to 9999");

function isStorable(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999;
}
