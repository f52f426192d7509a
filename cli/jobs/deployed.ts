/** Reports a deployment: in a pipe only the version; on a terminal also how to run it, and its webhook. */
import { isJsonObject } from "../../src/lib/json/json.ts";
import { findDataDirectory, readServerUrl } from "../client/data-directory.ts";
import { normaliseServerUrl } from "../client/transport.ts";
import { type CommonOptions, resolveConnection } from "../program/command.ts";
import { print } from "../terminal/text/output.ts";

interface Deployed {
  path: string;
  workspace: string;
  version: string;
  kind: "script" | "flow";
  /** JSON Schema of its arguments. */
  schema: unknown;
  /** Whether it can be run: a script without `main` can only be imported. */
  runs: boolean;
}

/** Returns placeholders for the required arguments: `name=…`. */
function listRequiredArguments(schema: unknown): string[] {
  const required = isJsonObject(schema) ? schema.required : undefined;
  return Array.isArray(required) ? required.map((name) => `${name}=…`) : [];
}

export function printDeployed(
  options: CommonOptions,
  { path, workspace, version, kind, schema, runs }: Deployed,
): void {
  if (!process.stdout.isTTY) {
    print(version);
    return;
  }
  const { url, data_dir } = resolveConnection(options);
  const directory = data_dir ?? process.env.SVC_DATA_DIR ?? findDataDirectory();
  const server = url ?? (directory === undefined ? undefined : readServerUrl(directory));
  const hook = `/api/w/${workspace}/jobs/run/${kind === "flow" ? "f" : "p"}/${path}`;
  print(`deployed ${path} (version ${version})`);
  if (!runs) {
    print("it has no function main: other scripts can import it, but it cannot be run");
    return;
  }
  print(`run:     svc run ${[path, ...listRequiredArguments(schema), "--workspace", workspace].join(" ")}`);
  print(`webhook: POST ${server === undefined ? "" : normaliseServerUrl(server)}${hook}`);
}
