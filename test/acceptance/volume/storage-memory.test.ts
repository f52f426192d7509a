/** Files are streamed through the server: a large one takes no more memory than a small one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { createDatabase } from "../../support/harness.ts";
import { type Bucket, startBucket } from "../../support/peers/bucket.ts";

const MB = 1_000_000;
const FILE_MB = 200;
/** Largest additional memory for a file: a few of its parts, and uncollected garbage. */
const MAX_MORE_MB = 150;

let server: Subprocess<"ignore", "pipe", "pipe">;
let bucket: Bucket;
let database: Awaited<ReturnType<typeof createDatabase>> | undefined;
let url: string;
let token: string;
const data_dir = mkdtempSync(join(tmpdir(), "svc-memory-"));

const ok = async (response: Response) => {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  return response;
};
/** As the local admin. */
const send = async (path: string, body: string | ReadableStream) => {
  const init = { method: "POST", body, unix: join(data_dir, "svc.sock") };
  return (await ok(await fetch(`http://localhost/api${path}`, init))).text();
};
const post = (path: string, body: unknown) => send(path, JSON.stringify(body));
/** Over the network. */
const call = async (path: string, init: RequestInit = {}) => {
  const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` };
  return ok(await fetch(`${url}/api${path}`, { ...init, headers }));
};

beforeAll(async () => {
  bucket = await startBucket();
  database = process.env.DATABASE_URL
    ? await createDatabase(process.env.DATABASE_URL, "migrated")
    : undefined;
  server = Bun.spawn(
    [process.execPath, join(import.meta.dir, "../../../cli/main.ts"), "serve", "--port", "0", "--json"],
    {
      env: {
        // Not the settings of tests, which keep memory.
        PATH: process.env.PATH ?? "",
        TMPDIR: tmpdir(),
        SVC_DATA_DIR: data_dir,
        SVC_LOG_LEVEL: "error",
        REQUEST_SIZE_LIMIT: "400",
        SVC_ALLOWED_TARGETS: "127.0.0.1",
        ...(database ? { DATABASE_URL: database.url } : {}),
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let text = "";
  for await (const piece of server.stdout) {
    text += new TextDecoder().decode(piece);
    if (text.includes("\n}\n")) break;
  }
  if (text === "") throw new Error(await server.stderr.text());
  url = JSON.parse(text).url;
  const email = "ann@example.org";
  await post("/users/create", { email, password: "a-long-password", super_admin: true, username: "ann" });
  token = await post("/users/tokens/impersonate", { impersonate_email: email });
  await post("/workspaces/create", { id: "acme", name: "Acme", owner: email, username: "ann" });
  const resource = { path: "g/all/bucket", value: bucket.resource, resource_type: "s3" };
  await post("/w/acme/resources/create", resource);
  const script = { path: "g/all/form", content: "echo", language: "bash" };
  await post("/w/acme/scripts/create", script);
});
afterAll(async () => {
  server.kill();
  await server.exited;
  await bucket.stop();
  await database?.drop();
  rmSync(data_dir, { recursive: true, force: true });
});

const peakMb = () =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))![1]) / 1000;

/** Returns the peak of additional memory of the server during the work, in MB. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  // Resets the recorded peak.
  writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
  const before = peakMb();
  await work();
  return peakMb() - before;
}

/** A body that is generated while it is sent. */
function large(before = "", after = ""): ReadableStream {
  const pieces = async function* () {
    yield Buffer.from(before);
    for (let n = 0; n < FILE_MB; n++) yield Buffer.alloc(MB, n);
    yield Buffer.from(after);
  };
  return new Response(pieces() as never).body!;
}

test.skipIf(process.platform !== "linux").each([
  ["a folder", { type: "FilesystemStorage" }],
  ["a bucket", { type: "S3Storage", s3_resource_path: "g/all/bucket" }],
])(
  "a file of 300 MB is uploaded to and downloaded from %s, alone and in a form",
  async (_, large_file_storage) => {
    await post("/w/acme/workspaces/edit_large_file_storage_config", { large_file_storage });
    const file = "/w/acme/job_helpers/upload_s3_file?file_key=large.bin";
    const costs = {
      upload: await costOf(() => call(file, { method: "POST", body: large() })),
      operator: await costOf(() => send(file, large())),
      download: await costOf(async () => {
        const response = await call("/w/acme/job_helpers/download_s3_file?file_key=large.bin");
        let size = 0;
        for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
          expect(piece[0]).toBe(Math.floor(size / MB) & 255);
          size += piece.length;
        }
        expect(size).toBe(FILE_MB * MB);
      }),
      form: await costOf(async () => {
        const head = '--xx\r\nContent-Disposition: form-data; name="f"; filename="f.bin"\r\n\r\n';
        const headers = { "content-type": "multipart/form-data; boundary=xx" };
        const body = large(head, "\r\n--xx--\r\n");
        await call("/w/acme/jobs/run/p/g/all/form", { method: "POST", headers, body });
      }),
    };
    const within = Object.entries(costs).map(([what, cost]) => [what, cost < MAX_MORE_MB ? "flat" : cost]);
    expect(within).toEqual(Object.keys(costs).map((what) => [what, "flat"]));
  },
  120_000,
);
