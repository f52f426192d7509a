/**
 * An operation, declared once. Its declaration defines the route, input validation, access rule, audit row, entry in
 * /api/openapi.yaml and the CLI's typed call.
 */
import * as z from "../../lib/zod/z.ts";
import type { AuditedAction, Context, UserContext, WorkspaceContext } from "../app/context.ts";
import { listParameterNames } from "./path-parameters.ts";

export type Method = "GET" | "POST" | "DELETE" | "PUT" | "PATCH";

/**
 * Access rules:
 * - anyone: no credentials needed, though they are read when given
 * - user: any valid token
 * - member: a member of the path's workspace, operators included
 * - author: a member who is not an operator (operators run and view only)
 * - admin: an admin of the path's workspace
 * - devops: devops and super admins (reading of instance data)
 * - superAdmin: super admins of the instance
 */
export type Access = "anyone" | "user" | "member" | "author" | "admin" | "devops" | "superAdmin";

/** Whether an operation accepts the session cookie; `last`: only without a token in the query. */
export type CookieRule = "counts" | "last" | "ignored";

/** Form of a success response. */
export type ResponseDeclaration<R> =
  | { kind: "text"; status: number; description: string; _?: R }
  | { kind: "json"; status: number; schema: z.ZodType; description: string | undefined; _?: R }
  /** `run` returns the Response itself: for streams, files, and results of user code. */
  | { kind: "raw"; status: number; content_type: string; description: string; _?: R };

export const responds = {
  text: (description: string): ResponseDeclaration<string> => ({ kind: "text", status: 200, description }),
  created: (description: string): ResponseDeclaration<string> => ({ kind: "text", status: 201, description }),
  /** JSON with status 201, for operations that create something. */
  createdJson: <S extends z.ZodType>(schema: S, description?: string): ResponseDeclaration<z.input<S>> => ({
    kind: "json",
    status: 201,
    schema,
    description,
  }),
  /** Declares a response with a JSON body. @param description omit it if the schema and the summary suffice */
  json: <S extends z.ZodType>(schema: S, description?: string): ResponseDeclaration<z.input<S>> => ({
    kind: "json",
    status: 200,
    schema,
    description,
  }),
  raw: (content_type: string, description: string): ResponseDeclaration<Response> => ({
    kind: "raw",
    status: 200,
    content_type,
    description,
  }),
};

/** Schemas, by content type, of bodies that `run` reads from the request itself. All are optional. */
export type RequestBodySchemas = Record<string, z.ZodType>;

/** The scope that a restricted token needs: `domain:action`, and the resource if the path names one. */
export interface OperationScope {
  domain: string;
  action: "read" | "write" | "run";
  /** Only for jobs: the kind of runnable. */
  kind?: "scripts" | "flows";
  /** Only for jobs: the operation covers many jobs at once, for which the right to run one is not enough. */
  many?: true;
  /** Path parameter that holds the resource. */
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

/** An operation's result together with response headers. */
export class ResponseWithHeaders<R> {
  readonly value: R;
  readonly headers: Record<string, string>;

  constructor(value: R, headers: Record<string, string>) {
    this.value = value;
    this.headers = headers;
  }
}

export interface OperationDeclaration<
  A extends Access,
  P extends string,
  Q,
  B,
  R,
  M extends Method = Method,
> {
  /** operationId: unique, camelCase. */
  name: string;
  method: M;
  /** Path below /api. A last parameter named `path` or `*_path` is greedy. */
  path: P;
  access: A;
  summary: string;
  query?: Q;
  /** JSON body; omit it if there is none, or if `run` reads the request itself. */
  body?: B;
  /** Bodies that `run` reads from the request itself; for the description only, nothing is validated. */
  reads?: RequestBodySchemas;
  responds: ResponseDeclaration<R>;
  /** Omitted for operations that only read. */
  audit?: AuditedAction;
  /** Derived from path and method if omitted; false exempts the operation from scopes (login, whoami). */
  scope?: OperationScope | false;
  /** Whether tokens bound to a workspace may call it although it belongs to no workspace. */
  allowsWorkspaceTokens?: boolean;
  /**
   * The response depends on this call's own committed writes only, so it need not wait for the read barrier
   * (`db.readBarrier`).
   */
  skipsReadBarrier?: boolean;
  /**
   * Allows any origin: other sites' pages call job runs, results and approvals. `any method` also allows every method
   * and header, and answers HEAD like GET.
   */
  cors?: boolean | "any method";
  /** For cheap operations that probes call constantly: calls without valid credentials are not rate limited. */
  exemptFromRateLimit?: boolean;
  /**
   * How much the session cookie counts. Browsers send it along with any link, so a GET that changes something or
   * starts a script must use `ignored`.
   */
  cookie?: CookieRule;
  /** A page for browsers: its path is relative to the root instead of /api, and it is left out of the description. */
  page?: boolean;
  run: (
    ctx: ContextOf<A>,
    input: Input<P, Q, B>,
  ) => Promise<R | ResponseWithHeaders<R>> | R | ResponseWithHeaders<R>;
}

/** An operation without its type parameters, as lists of operations hold it. */
export interface Operation {
  name: string;
  method: Method;
  path: string;
  access: Access;
  summary: string;
  query?: z.ZodType | undefined;
  body?: z.ZodType | undefined;
  reads?: RequestBodySchemas | undefined;
  responds: ResponseDeclaration<unknown>;
  audit?: AuditedAction | undefined;
  scope?: OperationScope | false | undefined;
  allowsWorkspaceTokens?: boolean | undefined;
  skipsReadBarrier?: boolean | undefined;
  cors?: boolean | "any method" | undefined;
  exemptFromRateLimit?: boolean | undefined;
  cookie?: CookieRule | undefined;
  page?: boolean | undefined;
  run: (ctx: never, input: never) => unknown;
}

/** An operation with its input and result types, for typed calls. */
export interface TypedOperation<I, R, P extends string = string, M extends Method = Method>
  extends Operation {
  path: P;
  method: M;
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
  const M extends Method = Method,
>(declaration: OperationDeclaration<A, P, Q, B, R, M>): TypedOperation<CallInput<P, Q, B>, R, P, M> {
  return declaration as unknown as TypedOperation<CallInput<P, Q, B>, R, P, M>;
}

/** Returns the same operation under a second name and path, for existing clients. */
export function aliasOperation(op: Operation, { name, path }: Pick<Operation, "name" | "path">): Operation {
  return { ...op, name, path };
}

/** Returns an operation's base path: pages are at the root, all else is below /api. */
export function getBasePath(op: Pick<Operation, "page">): "" | "/api" {
  return op.page ? "" : "/api";
}

/** Whether the last parameter takes the rest of the URL, slashes included. */
export function isGreedy(path: string): boolean {
  return /\{(\w+_)?path\}$/.test(path);
}

/** Returns the scope required of a restricted token: as declared, or the path's first segment with read or write. */
export function getRequiredScope(op: Operation): OperationScope | false {
  if (op.scope !== undefined) return op.scope;
  const parts = op.path.split("/").filter((part) => part !== "" && part !== "w" && !part.startsWith("{"));
  const resource = listParameterNames(op.path).find((name) => name === "path");
  return {
    domain: (parts[0] ?? "").replace(/_u$/, ""),
    action: op.method === "GET" ? "read" : "write",
    ...(resource ? { resource } : {}),
  };
}

/** Boolean query parameter: `true`, `1` and empty mean true. Python's clients write `True` and `False`. */
export const queryBoolean = z.union(
  [
    z
      .enum(["true", "false", "1", "0", "", "True", "False"])
      .transform((text) => !["false", "0", "False"].includes(text)),
    z.boolean(),
  ],
  { error: "must be true or false" },
);

/** Optional body: an empty object if absent. Bodies without this are required. */
export const optionalBody = <T extends z.ZodType>(schema: T) => schema.prefault({} as z.input<T>);

/** Whether a call without a body is rejected. */
export function requiresBody({ body }: Pick<Operation, "body">): boolean {
  return body !== undefined && !body.safeParse(undefined).success;
}

/** Integer query parameter. */
export const queryInteger = z.coerce.number().int();

/** Seconds in a query parameter: at most a century, so that the resulting time can be stored. */
export const querySeconds = queryInteger.min(0).max(3_155_760_000);

/** Keeps row offsets within the databases' integer range. */
const MAX_PAGE = 1_000_000_000;

/** Page number and page size of lists: page 0 means page 1; a page size above the limit is rejected, not reduced. */
export const pagingFields = {
  page: queryInteger.min(0).max(MAX_PAGE).default(1),
  per_page: queryInteger.min(1).max(10_000).default(1000),
};

/** Converts page and page size to offset and limit. */
export function toLimitOffset(query: { page: number; per_page: number }): { offset: number; limit: number } {
  return { offset: (Math.max(query.page, 1) - 1) * query.per_page, limit: query.per_page };
}

/** Returns one page of a list that is in memory. */
export function slicePage<T>(rows: readonly T[], query: { page: number; per_page: number }): T[] {
  const { offset, limit } = toLimitOffset(query);
  return rows.slice(offset, offset + limit);
}

/**
 * A timestamp on the wire: a Date in code, ISO 8601 text in JSON. Limited to the years that the databases can store.
 */
export const isoTimestamp = z
  .union([z.date(), z.iso.datetime({ offset: true }).transform((text) => new Date(text))], {
    error: "must be a moment such as 2030-01-31T09:00:00Z",
  })
  .refine(isStorable, "must be a moment in the years 1 to 9999");

function isStorable(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999;
}
