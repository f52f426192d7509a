/** Files that are no backup, or a damaged, foreign or newer one, are rejected and change nothing. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { createDatabase } from "../../support/harness.ts";
import {
  createTarget,
  env,
  place,
  postgres,
  quiet,
  readTables,
  restore,
  server,
  setUpBackups,
  url,
} from "./backup-setup.ts";

setDefaultTimeout(60_000);

setUpBackups();

describe("an invalid backup file", () => {
  let target: string;
  let database: Awaited<ReturnType<typeof createDatabase>> | undefined;
  const bad = async (name: string, bytes: Uint8Array | string) => {
    const path = join(place.folder, name);
    writeFileSync(path, bytes);
    const run = await restore(path, target, { force: true, database: database?.url });
    return [run.code, run.err.split("\n")[0]!.replace("error: ", "")] as const;
  };
  let untouched: Record<string, string[]>;
  beforeAll(async () => {
    target = createTarget();
    database = postgres ? await createDatabase(postgres) : undefined;
    expect((await restore(quiet, target, { database: database?.url })).code).toBe(0);
    untouched = await readTables(target, database?.url);
  });
  afterAll(async () => {
    expect(await readTables(target, database?.url)).toEqual(untouched);
    await database?.drop();
    expect(readdirSync(target).filter((name) => /^(before-restore|restoring)/.test(name))).toEqual([]);
  });
  const parts = () => {
    const bytes = readFileSync(quiet);
    const end = bytes.indexOf(10);
    const header = JSON.parse(bytes.subarray(11, end).toString());
    return {
      bytes,
      header,
      body: bytes.subarray(end + 1),
      lines: gunzipSync(bytes.subarray(end + 1)).toString(),
    };
  };
  const packed = (header: object, lines: string) =>
    Buffer.concat([Buffer.from(`svc-backup ${JSON.stringify(header)}\n`), gzipSync(lines)]);

  test("is refused if it is another kind of file, missing or a folder", async () => {
    expect(await bad("text", "hello\nworld\n")).toEqual([1, "the file is not a backup of svc"]);
    expect(await bad("empty", "")).toEqual([1, "the file is not a backup of svc"]);
    expect(await bad("magic", "svc-backup {bad\n")).toEqual([1, expect.stringContaining("damaged")]);
    const missing = join(place.folder, "not-there");
    expect((await restore(missing, target)).err).toContain(
      `${missing} cannot be read: there is no such file`,
    );
    expect((await restore(place.folder, target)).err).toContain("cannot be read: it is a folder");
  });

  test("is refused if it is of a newer version", async () => {
    const { header, lines } = parts();
    const format = await bad("format", packed({ ...header, format: 2 }, lines));
    expect(format).toEqual([1, expect.stringContaining("made by a newer svc: it is of format 2")]);
    const migrations = [...header.migrations, "9999_later"];
    const newer = await bad("newer", packed({ ...header, migrations }, lines));
    expect(newer).toEqual([1, expect.stringContaining("made by a newer svc: it has migration 9999_later")]);
  });

  test("is refused if it is truncated at any place", async () => {
    const { bytes, body } = parts();
    const head = bytes.length - body.length;
    for (const length of [
      20,
      head - 1,
      head,
      head + 5,
      head + Math.floor(body.length / 2),
      bytes.length - 9,
      bytes.length - 1,
    ]) {
      const [code, says] = await bad("cut", bytes.subarray(0, length));
      expect([length, code, says]).toEqual([length, 1, expect.stringContaining("damaged or cut short")]);
    }
  });

  test("is refused if a line is missing, added or changed, or if a path leaves the folder", async () => {
    const { header, bytes, body, lines } = parts();
    const all = lines.trimEnd().split("\n");
    const at = all.findIndex((line) => line.startsWith("["));
    const changed = (change: (copy: string[]) => void) => {
      const copy = [...all];
      change(copy);
      return packed(header, `${copy.join("\n")}\n`);
    };
    const cases: [string, Uint8Array][] = [
      ["a row less", changed((copy) => copy.splice(at, 1))],
      ["a row more", changed((copy) => copy.splice(at, 0, copy[at]!))],
      ["no end", changed((copy) => copy.pop())],
      ["an end too early", changed((copy) => copy.splice(at, 0, copy.at(-1)!))],
      ["a value changed", changed((copy) => (copy[at] = copy[at]!.replace("e", "f")))],
      ["a line of nonsense", changed((copy) => (copy[at] = "{"))],
      ["a row of other columns", changed((copy) => (copy[at] = "[1]"))],
      ["another header", packed({ ...header, svc: "0.0.0" }, lines)],
      ["a file elsewhere", withFile(all, "storage/../../evil")],
      ["a file at the root", withFile(all, "/evil")],
      ["a file of the service", withFile(all, "instance.key")],
      [
        "flipped bits",
        Buffer.concat([
          bytes.subarray(0, -body.length),
          body.map((byte, n) => (n === 300 ? byte ^ 1 : byte)),
        ]),
      ],
    ];
    for (const [name, content] of cases) {
      const [code, says] = await bad("changed", content);
      expect([name, code, says]).toEqual([name, 1, expect.stringContaining("damaged or cut short")]);
    }
    for (const folder of [place.folder, target, "/"]) expect(existsSync(join(folder, "evil"))).toBe(false);
  });

  /** A deliberate change: the checksum is correct. */
  function withFile(all: string[], file: string): Uint8Array {
    const { header } = parts();
    const copy = [...all.slice(0, -1), JSON.stringify({ file, mode: 0o600, mtime_ms: 0 })];
    const text = `svc-backup ${JSON.stringify(header)}\n${copy.join("\n")}\n`;
    const { end } = JSON.parse(all.at(-1)!);
    const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
    copy.push(JSON.stringify({ end: { ...end, files: end.files + 1, sha256 } }));
    return packed(header, `${copy.join("\n")}\n`);
  }

  test("cannot be restored over a running server", async () => {
    const run = await place.svc(["restore", quiet, "--data-dir", server.data_dir, "--force"], {
      env: env(url),
    });
    expect([run.code, run.err]).toEqual([1, expect.stringMatching(/in use by process \d+ \(svc serve/)]);
    if (!url) return;
    const elsewhere = await restore(quiet, createTarget(), { database: url, force: true });
    expect([elsewhere.code, elsewhere.err]).toEqual([
      1,
      expect.stringContaining("a server works on this database"),
    ]);
  });
});
