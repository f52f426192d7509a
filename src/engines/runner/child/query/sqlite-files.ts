/**
 * Database file of a SQLite query: a file of the workspace's storage (downloaded and uploaded again), a file of the
 * job, or memory.
 */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { QueryError } from "./query.ts";

export interface DatabaseFile {
  path: string;
  /** Stores the run's changes. @throws QueryError if the stored file was changed meanwhile */
  store(): Promise<void>;
  /** Removes the downloaded copy. */
  discard(): void;
}

const NOTHING_TO_STORE = { store: async () => {}, discard: () => {} };

/** Opens the database file. @param value argument `database` */
export async function openDatabaseFile(value: unknown): Promise<DatabaseFile> {
  if (value === undefined || value === null || value === "") return { path: ":memory:", ...NOTHING_TO_STORE };
  const stored = parseStoredFile(value);
  if (stored) return fetchFile(stored);
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
  return { path, ...NOTHING_TO_STORE };
}

interface StoredFile {
  file_key: string;
  storage?: string;
}

function parseStoredFile(value: unknown): StoredFile | undefined {
  if (typeof value === "object" && value !== null && "s3" in value && typeof value.s3 === "string") {
    const storage = "storage" in value && typeof value.storage === "string" ? value.storage : "";
    return { file_key: value.s3, ...(storage ? { storage } : {}) };
  }
  const match = typeof value === "string" ? /^s3:\/\/([^/]*)\/(.+)$/s.exec(value) : null;
  if (!match) return undefined;
  const [, storage, file_key] = match as unknown as [string, string, string];
  return { file_key, ...(storage ? { storage } : {}) };
}

async function fetchFile(file: StoredFile): Promise<DatabaseFile> {
  const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
  const path = join(folder, "database.db");
  const discard = () => rmSync(folder, { recursive: true, force: true });
  try {
    const facts = await readFileVersion(file);
    if (facts !== undefined) {
      const answer = await callStorage("GET", "download_s3_file", file);
      writeFileSync(path, new Uint8Array(await answer.arrayBuffer()));
    }
    const before = facts === undefined ? undefined : digestOf(path);
    const store = async () => {
      if (digestOf(path) === before) return;
      if ((await readFileVersion(file)) !== facts) {
        throw new QueryError(
          `the file ${file.file_key} was changed by somebody else during the run: nothing was stored; let such scripts run one at a time (concurrent_limit)`,
        );
      }
      await callStorage("POST", "upload_s3_file", file, readFileSync(path));
    };
    return { path, store, discard };
  } catch (cause) {
    discard();
    throw cause;
  }
}

function digestOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** Returns size and modification time, which identify a version of the file; undefined if there is none. */
async function readFileVersion(file: StoredFile): Promise<string | undefined> {
  const answer = await callStorage("GET", "load_file_metadata", file);
  if (answer.status === 404) return undefined;
  const { size_in_bytes, last_modified } = (await answer.json()) as Record<string, unknown>;
  return `${size_in_bytes} ${last_modified}`;
}

/** Calls the storage API; a 404 is returned. @throws QueryError for any other error */
async function callStorage(
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
