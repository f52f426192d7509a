/** Connections to database servers, by Bun's SQL client: one for each run, closed at its end. */
import { SQL } from "bun";
import { QueryError, without } from "./query.ts";

const CONNECT_S = 15;

type Resource = Record<string, unknown>;

/** What runs statements on one connection. */
export interface Connection {
  unsafe(text: string, values?: unknown[]): Running;
}

interface Running extends Promise<object[]> {
  cancel(): void;
}

interface Opened {
  connection: Connection;
  close(): Promise<void>;
}

/**
 * @param resource of type postgresql or mysql
 * @throws QueryError that names the server, never the password
 */
export async function connect(adapter: "postgres" | "mysql", resource: Resource): Promise<Opened> {
  const options = adapter === "postgres" ? postgresOptions(resource) : mysqlOptions(resource);
  let client: SQL | undefined;
  try {
    client = new SQL({
      ...options,
      adapter,
      max: 1,
      bigint: true,
      idleTimeout: 0,
      maxLifetime: 0,
      connectionTimeout: CONNECT_S,
    } as unknown as SQL.Options);
    const connection = await client.reserve();
    const close = async () => {
      connection.release();
      await client?.close({ timeout: 0 });
    };
    return { connection: connection as unknown as Connection, close };
  } catch (cause) {
    await client?.close({ timeout: 0 }).catch(() => {});
    const { message, ...facts } = plainFacts(cause, resource);
    const where = `${options.username}@${options.hostname}:${options.port}/${options.database}`;
    throw new QueryError(`cannot connect to ${where}: ${message}`, facts);
  }
}

function postgresOptions(resource: Resource) {
  const { sslmode = "prefer", root_certificate_pem } = resource;
  return {
    hostname: textOf(resource.host) ?? "localhost",
    port: Number(resource.port ?? 5432),
    username: textOf(resource.user) ?? "postgres",
    password: textOf(resource.password) ?? "",
    database: textOf(resource.dbname) ?? "postgres",
    ...tlsOf(String(sslmode || "prefer"), textOf(root_certificate_pem)),
    connection: { application_name: "svc" },
  };
}

function mysqlOptions(resource: Resource) {
  return {
    hostname: textOf(resource.host) ?? "localhost",
    port: Number(resource.port ?? 3306),
    username: textOf(resource.user) ?? "root",
    password: textOf(resource.password) ?? "",
    database: textOf(resource.database) ?? "",
    ...tlsOf(resource.ssl ? "require" : "disable", textOf(resource.root_certificate_pem)),
  };
}

/** libpq §34.19: only the two that say so look at the certificate; with a root certificate `require` does too. */
function tlsOf(mode: string, ca: string | undefined) {
  if (mode === "disable") return { tls: false };
  const verifies = mode === "verify-ca" || mode === "verify-full" || (mode === "require" && ca !== undefined);
  const named = mode === "require" && ca !== undefined ? "verify-ca" : mode;
  return { sslmode: named, tls: { rejectUnauthorized: verifies, ...(ca === undefined ? {} : { ca }) } };
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null || value === "" ? undefined : String(value);
}

/** What a database said of a statement. @param line of the script */
export function describeFailure(cause: unknown, resource: Resource, line: number): QueryError {
  const { message, ...facts } = plainFacts(cause, resource);
  return new QueryError(message, { ...facts, line });
}

function plainFacts(cause: unknown, { password }: Resource) {
  const { message, detail, hint, errno, sqlState, code } = cause as Record<string, unknown>;
  const plain = (text: unknown) => (typeof text === "string" ? without(password, text) : undefined);
  return {
    message: plain(message) ?? "the database said nothing",
    detail: plain(detail),
    hint: plain(hint),
    code: sqlState ?? errno ?? code,
  };
}
