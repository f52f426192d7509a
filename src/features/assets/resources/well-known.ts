/** Resource types that are there from the start, so that the usual services can be connected to at once. */
import type { ResourceType } from "../resource-tables.ts";

type Field = { type: "string" | "integer" | "boolean"; default?: unknown; enum?: string[]; format?: string };

const text: Field = { type: "string" };
const secret: Field = { type: "string", format: "password" };
const yes: Field = { type: "boolean", default: true };
const no: Field = { type: "boolean", default: false };
const port = (number: number): Field => ({ type: "integer", default: number });

function wellKnown(
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
    created_by: "svc",
    edited_at: new Date(0),
  };
}

const sslmodes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

export const wellKnownTypes: readonly ResourceType[] = [
  wellKnown(
    "postgresql",
    "A PostgreSQL database",
    {
      host: text,
      port: port(5432),
      user: text,
      password: secret,
      dbname: text,
      sslmode: { ...text, enum: sslmodes },
      root_certificate_pem: text,
    },
    ["host", "dbname"],
  ),
  wellKnown(
    "mysql",
    "A MySQL or MariaDB database",
    { host: text, port: port(3306), user: text, password: secret, database: text, ssl: no },
    ["host", "database"],
  ),
  wellKnown(
    "ms_sql_server",
    "A Microsoft SQL Server database",
    { host: text, port: port(1433), user: text, password: secret, dbname: text },
    ["host", "dbname"],
  ),
  wellKnown(
    "mongodb",
    "A MongoDB database",
    { host: text, port: port(27017), username: text, password: secret, db: text, tls: yes },
    ["host", "db"],
  ),
  wellKnown(
    "redis",
    "A Redis server",
    { host: text, port: port(6379), user: text, password: secret, tls: no },
    ["host"],
  ),
  wellKnown(
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
  wellKnown(
    "smtp",
    "A mail server to send by",
    { host: text, port: port(587), user: text, password: secret },
    ["host", "port"],
  ),
  wellKnown("git_repository", "A git repository", { url: text, branch: text, is_github_app: no }, ["url"]),
  wellKnown("github", "Access to GitHub", { token: secret }, ["token"]),
  wellKnown("gitlab", "Access to GitLab", { baseUrl: text, token: secret }, ["token"]),
  wellKnown("graphql", "A GraphQL endpoint", { base_url: text, bearer_token: secret }, ["base_url"]),
  wellKnown("openai", "Access to OpenAI", { api_key: secret, organization_id: text }, ["api_key"]),
  wellKnown("anthropic", "Access to Anthropic", { apiKey: secret }, ["apiKey"]),
  wellKnown("mistral", "Access to Mistral", { apiKey: secret }, ["apiKey"]),
];
