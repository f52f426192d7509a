/**
 * File modes, which the sandbox does not restrict: what scripts may do to their own files, and what they
 * achieve against the server's. On the compiled executable, as root and as a user, with each kind of sandbox.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, statSync } from "node:fs";
import { join } from "node:path";
import { until } from "../executable.ts";
import { createVariantPlace, isRoot, type Started, startVariant, variants } from "../variants.ts";

const TRY = `import * as fs from "node:fs";
  import { dlopen, ptr } from "bun:ffi";
  const library = fs.existsSync("/lib/ld-musl-x86_64.so.1") ? "libc.musl-x86_64.so.1" : "libc.so.6";
  const libc = dlopen(library, { syscall: { args: ["i64", "u64", "u64", "u64", "u64", "u64"], returns: "i64" } }).symbols;
  const call = (number: number, ...words: (number | bigint)[]) => {
    const [a, b, c, d, e] = [...words, 0, 0, 0, 0, 0].map(BigInt);
    return Number(libc.syscall(BigInt(number), a, b, c, d, e)) < 0 ? "refused" : "got";
  };
  const text = (value: string) => ptr(Buffer.from(value + "\\0"));
  const got = (attempt: () => unknown) => { try { attempt(); return "got" } catch { return "refused" } };
  const AT_FDCWD = -100;`;

/** Numbers of system calls on x86-64. */
const RAW = `{
  fchmodat: () => call(268, AT_FDCWD, text("own"), 0o4755),
  fchmodat2: () => call(452, AT_FDCWD, text("own"), 0o2755, 0),
  fchmod: () => call(91, fs.openSync("own", "r"), 0o6755),
  openat: () => call(257, AT_FDCWD, text("new1"), 0o101, 0o4755),
  open: () => call(2, text("new2"), 0o101, 0o2755),
  openat2: () => call(437, AT_FDCWD, text("new3"), ptr(new BigUint64Array([0o101n, 0o4755n, 0n])), 24),
  creat: () => call(85, text("new4"), 0o4755),
  mknod: () => call(133, text("new5"), 0o104755, 0),
  mknodat: () => call(259, AT_FDCWD, text("new6"), 0o104755, 0),
  setxattr: () => call(188, text("own"), text("user.x"), text("1"), 1, 0),
  lsetxattr: () => call(189, text("own"), text("user.x"), text("1"), 1, 0),
  removexattr: () => call(197, text("own"), text("user.x")),
  setxattrat: () => call(463, AT_FDCWD, text("own"), 0, text("user.x"), 0),
  file_setattr: () => call(469, AT_FDCWD, text("own"), ptr(new Uint8Array(32)), 24, 0),
  chown: () => call(92, text("own"), process.getuid!(), process.getgid!()),
  fchownat: () => call(260, AT_FDCWD, text("own"), process.getuid!(), process.getgid!(), 0),
}`;

const SET_ID = `${TRY}
  export const main = () => {
    fs.writeFileSync("own", "");
    const tries: Record<string, () => string> = ${RAW};
    const found = Object.fromEntries(Object.entries(tries).map(([name, attempt]) => [name, attempt()]));
    const bits = fs.readdirSync(".").filter((name) => fs.statSync(name).mode & 0o6000);
    return { bits, got: Object.keys(found).filter((name) => found[name] === "got") };
  };`;

const TURN = `${TRY}
  export const main = (data: string) => ({
    key: got(() => fs.chmodSync(data + "/instance.key", 0o666)),
    database: got(() => fs.chmodSync(data + "/svc.db", 0o666)),
    owner: got(() => fs.chmodSync(data + "/svc.owner.json", 0)),
    lock: got(() => fs.chmodSync(data + "/svc.lock", 0)),
    programs: got(() => { for (const name of ["runtime", "children", "versions"]) fs.chmodSync(data + "/runner/" + name, 0) }),
    program: got(() => fs.chmodSync(process.argv[1]!, 0)),
    source: got(() => fs.chmodSync(import.meta.path, 0)),
    executable: got(() => fs.chmodSync(process.execPath, 0)),
    runner: got(() => fs.chmodSync(data + "/runner", 0)),
    time: got(() => fs.utimesSync(data + "/instance.key", 1, 1)),
    folder: got(() => fs.chmodSync(data, 0)),
  });`;

/** Ordinary work of scripts that the sandbox must permit; each line prints its result. */
const EVERY_DAY = `set -e
  echo 'echo ran' > tool && chmod +x tool && ./tool
  mkdir -p from/in && echo one > from/in/file && chmod 640 from/in/file && touch -d 2001-02-03 from/in/file
  tar cf all.tar from && mkdir to && tar xpf all.tar -C to && stat -c '%a %Y' to/from/in/file
  cp -a from copy && stat -c '%a %Y' copy/in/file
  touch later
  if command -v git > /dev/null; then
    git -c init.defaultBranch=main init -q repository && cd repository
    echo x > x && git add x && git -c user.name=a -c user.email=a@b commit -qm one && cd ..
    git clone -q repository clone && cat clone/x
  else echo x; fi`;

const PYTHON = `import os, shutil, stat, getpass, tempfile
def main():
    with open("a", "w") as file:
        file.write("1")
    os.chmod("a", 0o640)
    os.utime("a", (5, 5))
    shutil.copy2("a", "b")
    shutil.copystat("a", "b")
    shutil.copytree(".", tempfile.mkdtemp() + "/tree", ignore=lambda folder, names: [n for n in names if n not in ("a", "b")])
    found = os.stat("b")
    return [stat.S_IMODE(found.st_mode), found.st_mtime, len(getpass.getuser()) > 0]`;

const hasPython = Bun.which("python3", { PATH: "/usr/bin" }) !== null;
const found = variants();
if (found.length === 0) test.skip("sandbox tests of file modes run on Linux", () => {});

describe.each(found)("a server of $name", (variant) => {
  let started: Started;
  beforeAll(async () => {
    started = await startVariant(variant);
    await started.scripts.deploy("fine", "export const main = () => 42");
  }, 60_000);
  afterAll(() => started.place.remove());

  test("lets scripts use their own files normally", async () => {
    const { scripts } = started;
    const day = `( ${EVERY_DAY}\n) > log 2>&1; cat log > result.out`;
    await scripts.deploy("day", day, { language: "bash" });
    expect((await scripts.run<string>("day")).split("\n")).toEqual([
      "ran",
      "640 981158400",
      "640 981158400",
      "x",
    ]);
    if (!hasPython) return;
    await scripts.deploy("python", PYTHON, { language: "python3" });
    expect(await scripts.run<unknown>("python")).toEqual([0o640, 5, true]);
  }, 60_000);

  test.if(process.arch === "x64")(
    "lets no script create a file that runs as its owner, by any call",
    async () => {
      await started.scripts.deploy("set_id", SET_ID);
      expect(await started.scripts.run<object>("set_id")).toEqual({ bits: [], got: [] });
    },
    60_000,
  );

  test("keeps or restores its files' modes when a script changes them", async () => {
    const { place, scripts } = started;
    await scripts.deploy("turn", TURN);
    const tried = await scripts.run<Record<string, string>>("turn", { data: place.data_dir });
    // In bubblewrap the parents of its folder are not the server's.
    const led = variant.name.endsWith("in bubblewrap") ? ["runner", "folder"] : [];
    const turned = Object.keys(tried).filter((name) => tried[name] === "got" && !led.includes(name));
    if (variant.keepsModes) expect(turned).toEqual([]);
    const modes = () => {
      const modeOf = (name: string) => (statSync(join(place.data_dir, name)).mode & 0o7777).toString(8);
      return [modeOf("instance.key"), modeOf("svc.db"), modeOf("svc.owner.json"), modeOf("svc.lock")];
    };
    // Until then this test, which runs as the same user, may be unable to read the folder too.
    const isBack = () => {
      try {
        return modes().every((mode) => mode === "600") ? true : undefined;
      } catch {
        return undefined;
      }
    };
    expect(await until(isBack, "the rights to be restored")).toBe(true);
    expect(statSync(place.data_dir).mode & 0o7).toBe(0);
    expect(
      await until(async () => ((await scripts.run("fine")) === 42 ? true : undefined), "a job to run"),
    ).toBe(true);
    await scripts.run("turn", { data: place.data_dir });
    await started.again();
    expect(await started.scripts.run<number>("fine")).toBe(42);
  }, 60_000);

  test("starts again after a script changed modes and the server was killed before it noticed", async () => {
    const { data_dir } = started.place;
    started.server.process.kill("SIGSTOP");
    for (const name of [
      "instance.key",
      "svc.owner.json",
      "svc.lock",
      "svc.db",
      "runner/runtime",
      "runner",
      "",
    ])
      chmodSync(join(data_dir, name), name === "instance.key" ? 0o644 : 0);
    await started.again("SIGKILL");
    expect((statSync(join(data_dir, "instance.key")).mode & 0o777).toString(8)).toBe("600");
    expect(await started.scripts.run<number>("fine")).toBe(42);
    const alerts = await fetch("http://localhost/api/settings/critical_alerts", {
      unix: join(data_dir, "svc.sock"),
    });
    const text = await alerts.text();
    expect([alerts.status, text]).toEqual([200, expect.stringContaining("instance_key_exposed")]);
    expect(text).toContain("it may have leaked");
  }, 60_000);
});

test.if(isRoot && Bun.which("setpriv") !== null)(
  "a key that others can read and that is not the server's own is not used",
  async () => {
    const variant = found.find((each) => !each.isRoot)!;
    const place = createVariantPlace(variant);
    try {
      const first = await place.serve({ env: variant.env, under: variant.under });
      first.process.kill("SIGTERM");
      await first.process.exited;
      const key = join(place.data_dir, "instance.key");
      chownSync(key, 0, 0);
      chmodSync(key, 0o644);
      const second = place.serve({ env: variant.env, under: variant.under });
      const says = await second.then(
        () => "it started",
        (cause) => String(cause),
      );
      expect(says).toContain("other users can read the instance key");
      expect(says).toContain(`chmod 600 ${key}`);
    } finally {
      place.remove();
    }
  },
  60_000,
);
