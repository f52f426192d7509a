/**
 * Drizzle's builder on connections to PostgreSQL. It is cast to the SQLite builder's type here and nowhere else: the kit's
 * tables have the same shape in both, and the contract suite runs on both.
 */
import type { SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/pg-proxy";
import type { QueryBuilder, Reader } from "../database.ts";
import type { AnyStatement, QueryRunner, Values } from "./statements.ts";

/** Creates Drizzle's builder. @param on runs a query on a connection */
export function createBuilder(
  on: (query: (connection: QueryRunner) => Promise<unknown>) => Promise<unknown>,
): QueryBuilder {
  return drizzle(async (text, parameters, method) => {
    const rows = await on(async (connection) => {
      const query = connection.unsafe(text, parameters);
      return method === "all" ? query.values() : query;
    });
    return { rows: rows as unknown[] };
  }) as unknown as QueryBuilder;
}

interface RawQueries {
  exec(declared: AnyStatement, parameters: Values): Promise<unknown>;
}

/**
 * Combines raw statements with the query builder, which is created on first use: hot-path transactions never need it.
 */
export function addBuilder<R extends RawQueries>(
  make: () => QueryBuilder,
  raw: R,
): Reader & Omit<R, keyof Reader> {
  let made: QueryBuilder | undefined;
  const builder = () => {
    made ??= make();
    return made as QueryBuilder & { execute(query: SQL): Promise<unknown[]> };
  };
  const own = { ...raw, rows: (query: SQL) => builder().execute(query) };
  return new Proxy(own, {
    get: (_, name) => Reflect.get(name in own ? own : builder(), name),
  }) as unknown as Reader & Omit<R, keyof Reader>;
}
