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

/** Where to connect, and how. */
interface Target {
  adapter: "postgres" | "mysql";
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  /** As libpq has it (PostgreSQL §34.19). */
  sslmode: string;
  /** Certificates that the server's must come from. */
  ca: string | undefined;
}

/**
 * @param resource of type postgresql or mysql
 * @throws QueryError that names the server, never the password
 */
export async function connect(adapter: "postgres" | "mysql", resource: Resource): Promise<Opened> {
  const target = adapter === "postgres" ? postgresTarget(resource) : mysqlTarget(resource);
  let client: SQL | undefined;
  try {
    client = new SQL({
      adapter,
      url: urlOf(target),
      ...(target.ca === undefined ? {} : { tls: { ca: target.ca } }),
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
    const { user, host, port, database, sslmode } = target;
    // All that the client says of a MySQL without TLS; one that refuses a password says more.
    const mayLackTls = facts.code === "ERR_MYSQL_AUTHENTICATION_FAILED" && sslmode !== "disable";
    const hint = mayLackTls ? "does the server offer TLS, which `ssl: true` asks for?" : facts.hint;
    throw new QueryError(`cannot connect to ${user}@${host}:${port}/${database}: ${message}`, {
      ...facts,
      hint,
    });
  }
}

/** The client understands the modes of TLS in a URL alone. */
function urlOf({ adapter, host, port, user, password, database, sslmode }: Target): string {
  const [name, secret, path] = [user, password, database].map(encodeURIComponent);
  const at = host.includes(":") ? `[${host}]` : host;
  return `${adapter}://${name}:${secret}@${at}:${port}/${path}?sslmode=${sslmode}`;
}

function postgresTarget(resource: Resource): Target {
  return {
    adapter: "postgres",
    host: textOf(resource.host) ?? "localhost",
    port: Number(resource.port ?? 5432),
    user: textOf(resource.user) ?? "postgres",
    password: textOf(resource.password) ?? "",
    database: textOf(resource.dbname) ?? "postgres",
    ...tlsOf(textOf(resource.sslmode) ?? "prefer", textOf(resource.root_certificate_pem)),
  };
}

function mysqlTarget(resource: Resource): Target {
  return {
    adapter: "mysql",
    host: textOf(resource.host) ?? "localhost",
    port: Number(resource.port ?? 3306),
    user: textOf(resource.user) ?? "root",
    password: textOf(resource.password) ?? "",
    database: textOf(resource.database) ?? "",
    ...tlsOf(resource.ssl ? "require" : "disable", textOf(resource.root_certificate_pem)),
  };
}

const MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/** Only the last two look at the certificate, and `require` when it is said where that must come from. */
function tlsOf(mode: string, ca: string | undefined): Pick<Target, "sslmode" | "ca"> {
  if (!MODES.includes(mode))
    throw new QueryError(`sslmode ${mode} is not known: use one of ${MODES.join(", ")}`);
  if (mode === "require" && ca !== undefined) return { sslmode: "verify-ca", ca };
  if (mode.startsWith("verify")) return { sslmode: mode, ca };
  return { sslmode: mode === "allow" ? "prefer" : mode, ca: undefined };
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
