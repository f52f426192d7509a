/** Operations that give scripts direct access to the workspace's bucket. */

import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, optionalBody, responds } from "../../../platform/http/operation.ts";
import { SECRET_READ_AUDIT } from "../../tenancy/workspaces/secrets.ts";
import { getStorageEndpoint, S3Resource } from "../../tenancy/workspaces/storage-records.ts";
import { readBucketForCaller } from "./service.ts";

const base = "/w/{workspace}/job_helpers/v2" as const;

const Choice = z.object({ s3_resource_path: optionalField(z.string()), storage: optionalField(z.string()) });

/** Reading the bucket's keys from a secret leaves an audit row. */
const common = {
  method: "POST",
  access: "member",
  body: optionalBody(Choice),
  audit: SECRET_READ_AUDIT,
} as const;

export const s3ResourceInfo = operation({
  ...common,
  name: "s3ResourceInfo",
  path: `${base}/s3_resource_info`,
  summary: "Read the address and the keys of the workspace's bucket, or of the named resource",
  responds: responds.json(
    z.object({
      bucket: z.string(),
      region: z.string(),
      endPoint: z.string(),
      port: z.number().optional(),
      useSSL: z.boolean(),
      pathStyle: z.boolean(),
      accessKey: z.string(),
      secretKey: z.string(),
    }),
  ),
  run: async (ctx, { body }) => {
    const bucket = await readBucketForCaller(ctx, body);
    // Clients add the scheme and the port themselves.
    const { protocol, host } = new URL(getStorageEndpoint({ ...bucket, port: undefined }));
    return { ...bucket, endPoint: host, useSSL: protocol === "https:" };
  },
});

/** Returns the statements that connect DuckDB to a bucket. */
function connectDuckdb(bucket: S3Resource): { connection_settings_str: string } {
  const { protocol, host } = new URL(getStorageEndpoint(bucket));
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const statements = [
    "SET home_directory='./'",
    "INSTALL 'httpfs'",
    "LOAD 'httpfs'",
    `SET s3_url_style='${bucket.pathStyle ? "path" : "vhost"}'`,
    `SET s3_region=${quoted(bucket.region)}`,
    `SET s3_endpoint=${quoted(host)}`,
    `SET s3_use_ssl=${protocol === "https:" ? 1 : 0}`,
    `SET s3_access_key_id=${quoted(bucket.accessKey)}`,
    `SET s3_secret_access_key=${quoted(bucket.secretKey)}`,
  ];
  return { connection_settings_str: statements.map((statement) => `${statement};\n`).join("") };
}

const S3fsArguments = z.object({
  endpoint_url: z.string(),
  key: z.string(),
  secret: z.string(),
  use_ssl: z.boolean(),
  cache_regions: z.boolean(),
  client_kwargs: z.object({ region_name: z.string() }),
});

/** Returns the arguments that connect s3fs to a bucket. */
function connectS3fs(bucket: S3Resource): z.output<typeof S3fsArguments> {
  const endpoint_url = getStorageEndpoint(bucket);
  return {
    endpoint_url,
    key: bucket.accessKey,
    secret: bucket.secretKey,
    use_ssl: endpoint_url.startsWith("https:"),
    cache_regions: false,
    client_kwargs: { region_name: bucket.region },
  };
}

export const duckdbConnectionSettings = operation({
  ...common,
  name: "duckdbConnectionSettingsV2",
  path: `${base}/duckdb_connection_settings`,
  summary: "Read the statements that connect DuckDB to the bucket",
  responds: responds.json(z.object({ connection_settings_str: z.string() })),
  run: async (ctx, { body }) => connectDuckdb(await readBucketForCaller(ctx, body)),
});

export const polarsConnectionSettings = operation({
  ...common,
  name: "polarsConnectionSettingsV2",
  path: `${base}/polars_connection_settings`,
  summary: "Read the arguments that connect Polars and s3fs to the bucket",
  responds: responds.json(
    z.object({
      s3fs_args: S3fsArguments,
      storage_options: z.record(z.string(), z.string()),
    }),
  ),
  run: async (ctx, { body }) => {
    const bucket = await readBucketForCaller(ctx, body);
    const endpoint_url = getStorageEndpoint(bucket);
    const use_ssl = endpoint_url.startsWith("https:");
    return {
      s3fs_args: connectS3fs(bucket),
      storage_options: {
        aws_endpoint_url: endpoint_url,
        aws_access_key_id: bucket.accessKey,
        aws_secret_access_key: bucket.secretKey,
        aws_region: bucket.region,
        aws_allow_http: String(!use_ssl),
      },
    };
  },
});

/** Older clients send the resource itself; nothing stored is read then. */
const fromResource = {
  method: "POST",
  access: "member",
  body: z.object({ s3_resource: S3Resource }),
} as const;

const duckdbConnectionOfResource = operation({
  ...fromResource,
  name: "duckdbConnectionSettings",
  path: "/w/{workspace}/job_helpers/duckdb_connection_settings",
  summary: "Create the statements that connect DuckDB to the bucket of a given resource",
  responds: responds.json(z.object({ connection_settings_str: z.string() })),
  run: (_ctx, { body }) => connectDuckdb(body.s3_resource),
});

const polarsConnectionOfResource = operation({
  ...fromResource,
  name: "polarsConnectionSettings",
  path: "/w/{workspace}/job_helpers/polars_connection_settings",
  summary: "Create the arguments that connect Polars and s3fs to the bucket of a given resource",
  responds: responds.json(S3fsArguments),
  run: (_ctx, { body }) => connectS3fs(body.s3_resource),
});

export const storageConnectionOperations: Operation[] = [
  duckdbConnectionOfResource,
  polarsConnectionOfResource,
  s3ResourceInfo,
  duckdbConnectionSettings,
  polarsConnectionSettings,
];
