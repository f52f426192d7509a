/** The log as files: a failure when the hour changes touches no other files, and ends with its cause. */
import { expect, setSystemTime, test } from "bun:test";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { openLogFiles } from "../../../src/lib/logging/log-files.ts";

const HOST = hostname().replace(/[^\w.-]/g, "_");
const at = (hour: number) => setSystemTime(new Date(Date.UTC(2026, 0, 31, hour)));

test("a file that cannot be opened closes no other file, and later lines are written again", () => {
  const folder = mkdtempSync(join(tmpdir(), "log-"));
  const opened: number[] = [];
  try {
    at(8);
    const append = openLogFiles(folder);
    append("eight\n");
    // A file is in the place of the folder.
    rmSync(join(folder, HOST), { recursive: true });
    writeFileSync(join(folder, HOST), "");
    at(9);
    append("lost\n");
    for (let n = 0; n < 20; n++) opened.push(openSync(join(folder, HOST), "r"));
    append("lost as well\n");
    for (const fd of opened) expect(fstatSync(fd).isFile()).toBe(true);
    rmSync(join(folder, HOST));
    append("nine\n");
    expect(readFileSync(join(folder, HOST, "2026-01-31T09.log"), "utf8")).toBe("nine\n");
  } finally {
    setSystemTime();
    for (const fd of opened) closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

test("old files are deleted, and nothing else in the folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "log-"));
  try {
    at(8);
    mkdirSync(join(folder, HOST, "2020"), { recursive: true });
    for (const name of ["2025-12-01T00.log", "2026-01-30T00.log", "1.txt"])
      writeFileSync(join(folder, HOST, name), "");
    openLogFiles(folder)("eight\n");
    const kept = ["1.txt", "2020", "2026-01-30T00.log", "2026-01-31T08.log"];
    expect(readdirSync(join(folder, HOST)).sort()).toEqual(kept);
  } finally {
    setSystemTime();
    rmSync(folder, { recursive: true });
  }
});
