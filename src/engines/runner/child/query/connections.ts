/** Database connections through Bun's SQL client: one per run, closed at its end. */
import { SQL } from "bun";
import { QueryError, redactPassword } from "./query.ts";

const CONNECT_TIMEOUT_S = 15;

type Resource = Record<string, unknown>;

/** Executes statements on one connection. */
export interface Connection {
  unsafe(text: string, values?: unknown[]): Running;
}

interface Running extends Promise<object[]> {
  cancel(): void;
}

interface OpenConnection {
  connection: Connection;
  close(): Promise<void>;
}

/** Address and options of a connection. */
interface ConnectionTarget {
  adapter: "postgres" | "mysql";
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  /** TLS mode as in libpq (PostgreSQL §34.19). */
  sslmode: string;
  /** Certificate authority for the server's certificate. */
  ca: string | undefined;
}

/**
 * Opens a connection.
 * @param resource of type postgresql or mysql
 * @throws QueryError that names the server, never the password
 */
export async function openConnection(
  adapter: "postgres" | "mysql",
  resource: Resource,
): Promise<OpenConnection> {
  const target = adapter === "postgres" ? postgresTarget(resource) : mysqlTarget(resource);
  let client: SQL | undefined;
  try {
    client = new SQL({
      adapter,
      url: connectionUrl(target),
      ...(target.ca === undefined ? {} : { tls: { ca: target.ca } }),
      max: 1,
      bigint: true,
      idleTimeout: 0,
      maxLifetime: 0,
      connectionTimeout: CONNECT_TIMEOUT_S,
    } as unknown as SQL.Options);
    const connection = await client.reserve();
    const close = async () => {
      connection.release();
      await client?.close({ timeout: 0 });
    };
    return { connection: connection as unknown as Connection, close };
  } catch (cause) {
    await client?.close({ timeout: 0 }).catch(() => {});
    const { message, ...facts } = errorDetails(cause, resource);
    const { user, host, port, database, sslmode } = target;
    // The client's only error for a MySQL server without TLS; a rejected password has a longer message.
    const mayLackTls = facts.code === "ERR_MYSQL_AUTHENTICATION_FAILED" && sslmode !== "disable";
    const hint = mayLackTls ? "does the server offer TLS, which `ssl: true` asks for?" : facts.hint;
    throw new QueryError(`cannot connect to ${user}@${host}:${port}/${database}: ${message}`, {
      ...facts,
      hint,
    });
  }
}

/** Returns the URL: the client reads TLS modes from it only. */
function connectionUrl({ adapter, host, port, user, password, database, sslmode }: ConnectionTarget): string {
  const [name, secret, path] = [user, password, database].map(encodeURIComponent);
  const at = host.includes(":") ? `[${host}]` : host;
  return `${adapter}://${name}:${secret}@${at}:${port}/${path}?sslmode=${sslmode}`;
}

function postgresTarget(resource: Resource): ConnectionTarget {
  return {
    adapter: "postgres",
    host: toText(resource.host) ?? "localhost",
    port: Number(resource.port ?? 5432),
    user: toText(resource.user) ?? "postgres",
    password: toText(resource.password) ?? "",
    database: toText(resource.dbname) ?? "postgres",
    ...parseTlsMode(toText(resource.sslmode) ?? "prefer", toText(resource.root_certificate_pem)),
  };
}

function mysqlTarget(resource: Resource): ConnectionTarget {
  return {
    adapter: "mysql",
    host: toText(resource.host) ?? "localhost",
    port: Number(resource.port ?? 3306),
    user: toText(resource.user) ?? "root",
    password: toText(resource.password) ?? "",
    database: toText(resource.database) ?? "",
    ...parseTlsMode(resource.ssl ? "require" : "disable", toText(resource.root_certificate_pem)),
  };
}

const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/**
 * Parses the TLS mode. Only the last two modes check the certificate, and `require` if a certificate authority is
 * given.
 */
function parseTlsMode(mode: string, ca: string | undefined): Pick<ConnectionTarget, "sslmode" | "ca"> {
  if (!SSL_MODES.includes(mode))
    throw new QueryError(`sslmode ${mode} is not known: use one of ${SSL_MODES.join(", ")}`);
  if (mode === "require" && ca !== undefined) return { sslmode: "verify-ca", ca };
  if (mode.startsWith("verify")) return { sslmode: mode, ca };
  return { sslmode: mode === "allow" ? "prefer" : mode, ca: undefined };
}

function toText(value: unknown): string | undefined {
  return value === undefined || value === null || value === "" ? undefined : String(value);
}

/** Converts a database error of a statement. @param line of the script */
export function describeFailure(cause: unknown, resource: Resource, line: number): QueryError {
  const { message, ...facts } = errorDetails(cause, resource);
  return new QueryError(message, { ...facts, line });
}

function errorDetails(cause: unknown, { password }: Resource) {
  const { message, detail, hint, errno, sqlState, code } = cause as Record<string, unknown>;
  const plain = (text: unknown) => (typeof text === "string" ? redactPassword(password, text) : undefined);
  return {
    message: plain(message) ?? "the database gave no reason",
    detail: plain(detail),
    hint: plain(hint),
    code: sqlState ?? errno ?? code,
  };
}
