/**
 * What a call needs to know of an operation. A command that loads only this starts twice as fast as with the modules
 * that carry the operation out, which the server has loaded.
 */
import type { Method, ResponseDeclaration } from "../../src/platform/http/operation.ts";

/** An operation whose input and result are not known by type. */
export interface AnyRemoteOperation {
  readonly method: Method;
  /** Path below /api. */
  readonly path: string;
  readonly responds: { readonly kind: ResponseDeclaration<unknown>["kind"] };
}

export interface RemoteOperation<I, R> extends AnyRemoteOperation {
  readonly _types?: { input: I; result: R };
}

type TypesOf<O extends { _types?: { input: unknown; result: unknown } }> = NonNullable<O["_types"]>;

/** Refers to an operation, whose type states its method and path. @param kind form of its success response */
export function remote<O extends RemoteOperation<unknown, unknown>>(
  method: O["method"],
  path: O["path"],
  kind: AnyRemoteOperation["responds"]["kind"],
): RemoteOperation<TypesOf<O>["input"], TypesOf<O>["result"]> {
  return { method, path, responds: { kind } };
}
