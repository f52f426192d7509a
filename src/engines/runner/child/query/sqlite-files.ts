/**
 * The database of a SQLite query: a file of the workspace's storage, which is fetched for the run and put back after it,
 * a file of the job, or memory.
 */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { QueryError } from "./query.ts";

export interface DatabaseFile {
  path: string;
  /** Keeps what the run has changed. @throws QueryError when somebody else has changed it meanwhile */
  keep(): Promise<void>;
  /** Removes what was fetched. */
  discard(): void;
}

const nothing = { keep: async () => {}, discard: () => {} };

/** @param value of the argument `database` */
export async function openDatabaseFile(value: unknown): Promise<DatabaseFile> {
  if (value === undefined || value === null || value === "") return { path: ":memory:", ...nothing };
  const stored = storedFile(value);
  if (stored) return fetched(stored);
  const path = typeof value === "string" ? resolve(value) : "";
  if (
    typeof value !== "string" ||
    !value.startsWith("./") ||
    relative(process.cwd(), path).startsWith("..")
  ) {
    throw new QueryError(
      'argument database must be a file of the storage ("s3:///orders.db", {"s3": "orders.db"}) or of the job ("./scratch.db")',
    );
  }
  mkdirSync(dirname(path), { recursive: true });
  return { path, ...nothing };
}

interface StoredFile {
  file_key: string;
  storage?: string;
}

function storedFile(value: unknown): StoredFile | undefined {
  if (typeof value === "object" && value !== null && "s3" in value && typeof value.s3 === "string") {
    const storage = "storage" in value && typeof value.storage === "string" ? value.storage : "";
    return { file_key: value.s3, ...(storage ? { storage } : {}) };
  }
  const match = typeof value === "string" ? /^s3:\/\/([^/]*)\/(.+)$/s.exec(value) : null;
  if (!match) return undefined;
  const [, storage, file_key] = match as unknown as [string, string, string];
  return { file_key, ...(storage ? { storage } : {}) };
}

async function fetched(file: StoredFile): Promise<DatabaseFile> {
  const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
  const path = join(folder, "database.db");
  const discard = () => rmSync(folder, { recursive: true, force: true });
  try {
    const facts = await factsOf(file);
    if (facts !== undefined) {
      const answer = await call("GET", "download_s3_file", file);
      writeFileSync(path, new Uint8Array(await answer.arrayBuffer()));
    }
    const before = facts === undefined ? undefined : digestOf(path);
    const keep = async () => {
      if (digestOf(path) === before) return;
      if ((await factsOf(file)) !== facts) {
        throw new QueryError(
          `the file ${file.file_key} was changed by somebody else during the run: nothing was stored; let such scripts run one at a time (concurrent_limit)`,
        );
      }
      await call("POST", "upload_s3_file", file, readFileSync(path));
    };
    return { path, keep, discard };
  } catch (cause) {
    discard();
    throw cause;
  }
}

function digestOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** Size and age, by which a changed file is known; undefined when there is none. */
async function factsOf(file: StoredFile): Promise<string | undefined> {
  const answer = await call("GET", "load_file_metadata", file);
  if (answer.status === 404) return undefined;
  const { size_in_bytes, last_modified } = (await answer.json()) as Record<string, unknown>;
  return `${size_in_bytes} ${last_modified}`;
}

/** @throws QueryError for any answer but a good one, and that there is no such file */
async function call(
  method: string,
  operation: string,
  file: StoredFile,
  body?: Uint8Array,
): Promise<Response> {
  const { BASE_INTERNAL_URL, WM_WORKSPACE, WM_TOKEN } = process.env;
  const query = new URLSearchParams({ ...file });
  const answer = await fetch(`${BASE_INTERNAL_URL}/api/w/${WM_WORKSPACE}/job_helpers/${operation}?${query}`, {
    method,
    headers: { authorization: `Bearer ${WM_TOKEN}`, "content-type": "application/octet-stream" },
    ...(body ? { body } : {}),
  });
  if (answer.ok || answer.status === 404) return answer;
  throw new QueryError(`the storage refused ${file.file_key}: ${await answer.text()}`);
}
