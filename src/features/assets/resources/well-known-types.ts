/** Built-in resource types for common services. */
import type { ResourceType } from "../resource-tables.ts";

type Field = { type: "string" | "integer" | "boolean"; default?: unknown; enum?: string[]; format?: string };

const text: Field = { type: "string" };
const secret: Field = { type: "string", format: "password" };
const yes: Field = { type: "boolean", default: true };
const no: Field = { type: "boolean", default: false };
const createPortField = (number: number): Field => ({ type: "integer", default: number });

function createWellKnownType(
  name: string,
  description: string,
  properties: Record<string, Field>,
  required: string[],
): ResourceType {
  return {
    workspace_id: "admins",
    name,
    description,
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties,
      required,
    },
    format_extension: null,
    is_fileset: false,
    extra: null,
    created_by: "svc",
    edited_at: new Date(0),
  };
}

const sslmodes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

export const WELL_KNOWN_TYPES: readonly ResourceType[] = [
  createWellKnownType(
    "postgresql",
    "A PostgreSQL database",
    {
      host: text,
      port: createPortField(5432),
      user: text,
      password: secret,
      dbname: text,
      sslmode: { ...text, enum: sslmodes },
      root_certificate_pem: text,
    },
    ["host", "dbname"],
  ),
  createWellKnownType(
    "mysql",
    "A MySQL or MariaDB database",
    { host: text, port: createPortField(3306), user: text, password: secret, database: text, ssl: no },
    ["host", "database"],
  ),
  createWellKnownType(
    "ms_sql_server",
    "A Microsoft SQL Server database",
    { host: text, port: createPortField(1433), user: text, password: secret, dbname: text },
    ["host", "dbname"],
  ),
  createWellKnownType(
    "mongodb",
    "A MongoDB database",
    { host: text, port: createPortField(27017), username: text, password: secret, db: text, tls: yes },
    ["host", "db"],
  ),
  createWellKnownType(
    "redis",
    "A Redis server",
    { host: text, port: createPortField(6379), user: text, password: secret, tls: no },
    ["host"],
  ),
  createWellKnownType(
    "s3",
    "A bucket of Amazon S3 or of a service that speaks its interface",
    {
      bucket: text,
      region: { ...text, default: "us-east-1" },
      endPoint: text,
      port: { type: "integer" },
      useSSL: yes,
      pathStyle: yes,
      accessKey: text,
      secretKey: secret,
    },
    ["bucket", "accessKey", "secretKey"],
  ),
  createWellKnownType(
    "smtp",
    "A mail server to send by",
    { host: text, port: createPortField(587), user: text, password: secret },
    ["host", "port"],
  ),
  createWellKnownType("git_repository", "A git repository", { url: text, branch: text, is_github_app: no }, [
    "url",
  ]),
  createWellKnownType("github", "Access to GitHub", { token: secret }, ["token"]),
  createWellKnownType("gitlab", "Access to GitLab", { baseUrl: text, token: secret }, ["token"]),
  createWellKnownType("graphql", "A GraphQL endpoint", { base_url: text, bearer_token: secret }, [
    "base_url",
  ]),
  createWellKnownType("openai", "Access to OpenAI", { api_key: secret, organization_id: text }, ["api_key"]),
  createWellKnownType("anthropic", "Access to Anthropic", { apiKey: secret }, ["apiKey"]),
  createWellKnownType("mistral", "Access to Mistral", { apiKey: secret }, ["apiKey"]),
];
