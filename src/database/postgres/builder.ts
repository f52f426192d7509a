/**
 * Drizzle's builder on connections to PostgreSQL. It is cast to the SQLite builder's type here and nowhere else: the kit's
 * tables have the same shape in both, and the contract suite runs on both.
 */
import type { SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/pg-proxy";
import type { Queries, Tx } from "../database.ts";
import type { AnyStatement, Connection, Values } from "./statements.ts";

/** Drizzle's builder. @param on runs a query on a connection */
export function builderOn(
  on: (query: (connection: Connection) => Promise<unknown>) => Promise<unknown>,
): Queries {
  return drizzle(async (text, parameters, method) => {
    const rows = await on(async (connection) => {
      const query = connection.unsafe(text, parameters);
      return method === "all" ? query.values() : query;
    });
    return { rows: rows as unknown[] };
  }) as unknown as Queries;
}

interface Raw {
  exec(declared: AnyStatement, parameters: Values): Promise<unknown>;
}

/**
 * What a reader or a transaction can do, and the builder, which is made once it is asked for something: the transactions
 * of the hot path build nothing.
 */
export function withBuilder<R extends Raw>(make: () => Queries, raw: R): Tx {
  let made: Queries | undefined;
  const builder = () => {
    made ??= make();
    return made as Queries & { execute(query: SQL): Promise<unknown[]> };
  };
  const own = { ...raw, rows: (query: SQL) => builder().execute(query) };
  return new Proxy(own, {
    get: (_, name) => Reflect.get(name in own ? own : builder(), name),
  }) as unknown as Tx;
}
