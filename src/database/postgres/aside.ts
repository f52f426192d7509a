/** Long reads. Each runs in a transaction with a statement timeout, which PostgreSQL enforces. */
import type { SQL } from "drizzle-orm";
import { type AsideOptions, createTimeoutError, READ_LIMIT_MS } from "../read-limit.ts";
import { createBuilder } from "./builder.ts";
import type { Connections } from "./connections.ts";
import { isCanceled } from "./errors.ts";

/**
 * Runs a SELECT that may take long, with a statement timeout.
 * @throws Unavailable when the statement timeout expires
 */
export async function readAside<R>(
  withClient: Connections["withClient"],
  query: SQL,
  { timeout_ms = READ_LIMIT_MS }: AsideOptions = {},
): Promise<R[]> {
  try {
    return await withClient((client) =>
      client.begin("read only", async (connection) => {
        await connection.unsafe(`SET LOCAL statement_timeout = ${Math.ceil(timeout_ms)}`);
        const builder = createBuilder((run) => run(connection)) as unknown as {
          execute(query: SQL): Promise<R[]>;
        };
        return builder.execute(query);
      }),
    );
  } catch (cause) {
    throw isCanceled(cause) ? createTimeoutError(timeout_ms, cause) : cause;
  }
}
