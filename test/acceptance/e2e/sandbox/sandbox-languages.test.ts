/**
 * The same attacks in each language against the server that runs them: on the compiled executable, as root and
 * as a user, with each kind of sandbox and without. Every attack is harmless if it succeeds.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { processesOf, until } from "../executable.ts";
import { listUnsandboxedVariants, type Started, startVariant, variants } from "../variants.ts";

/** Result of each attack: `got` or `refused`; `begins_with` lists the folder in which the run starts. */
type Found = Record<string, string> & { begins_with: string; proxies: string };

const BUN = `import * as fs from "node:fs";
  import net from "node:net";
  import { dlopen, ptr } from "bun:ffi";
  const got = (attempt: () => unknown) => { try { return attempt() === false ? "refused" : "got" } catch { return "refused" } };
  const library = fs.existsSync("/lib/ld-musl-x86_64.so.1") ? "libc.musl-x86_64.so.1" : "libc.so.6";
  const text = (value: string) => ptr(Buffer.from(value + "\\0"));
  const label = (path: string) => dlopen(library, { setxattr: { args: ["ptr", "ptr", "ptr", "u64", "i32"], returns: "i32" } })
    .symbols.setxattr(text(path), text("user.x"), text("1"), 1, 0) === 0;
  const listen = (port: number) => new Promise<string>((tell) => {
    const server = net.createServer().on("error", () => tell("refused"));
    server.listen({ port, host: "::1" }, () => server.close(() => tell("got")));
  });
  export async function main(data: string, pid: number, other: number, port: number) {
    const begins_with = fs.readdirSync(".").join();
    fs.mkdirSync("left/in", { recursive: true });
    fs.writeFileSync("left/in/file", "x");
    fs.writeFileSync(".hidden", "x");
    const key = data + "/instance.key";
    const me = [process.getuid!(), process.getgid!()] as const;
    return {
      begins_with,
      read_key: got(() => fs.readFileSync(key)),
      read_database: got(() => fs.openSync(data + "/svc.db", "r+")),
      chmod: got(() => fs.chmodSync(key, 0o600)),
      chown: got(() => fs.chownSync(key, ...me)),
      label: got(() => label(key)),
      times: got(() => fs.utimesSync(key, new Date(), new Date())),
      name_below: got(() => fs.existsSync(data + "/runner/versions/acme")),
      server_environment: got(() => fs.readFileSync("/proc/" + pid + "/environ")),
      server_memory: got(() => fs.openSync("/proc/" + pid + "/mem", "r")),
      server_files: got(() => fs.readdirSync("/proc/" + pid + "/fd")),
      job_environment: got(() => fs.readFileSync("/proc/" + other + "/environ")),
      signal: got(() => process.kill(pid, 0)),
      listen: await listen(port),
      proxies: Object.entries(process.env).filter(([name]) => /proxy/i.test(name)).join(),
    };
  }`;

const PYTHON = `import os, socket, time
def got(attempt):
    try:
        return "refused" if attempt() is False else "got"
    except OSError:
        return "refused"
def listen(port):
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as server:
        server.bind(("::1", port))
        server.listen()
def main(data: str, pid: int, other: int, port: int):
    begins_with = ",".join(os.listdir("."))
    os.makedirs("left/in", exist_ok=True)
    open("left/in/file", "w").close()
    open(".hidden", "w").close()
    key = data + "/instance.key"
    return {
        "begins_with": begins_with,
        "read_key": got(lambda: open(key).read()),
        "read_database": got(lambda: open(data + "/svc.db", "r+b").close()),
        "chmod": got(lambda: os.chmod(key, 0o600)),
        "chown": got(lambda: os.chown(key, os.getuid(), os.getgid())),
        "label": got(lambda: os.setxattr(key, "user.x", b"1")),
        "times": got(lambda: os.utime(key, (time.time(), time.time()))),
        "name_below": got(lambda: os.path.exists(data + "/runner/versions/acme")),
        "server_environment": got(lambda: open(f"/proc/{pid}/environ").read()),
        "server_memory": got(lambda: open(f"/proc/{pid}/mem", "rb").close()),
        "server_files": got(lambda: os.listdir(f"/proc/{pid}/fd")),
        "job_environment": got(lambda: open(f"/proc/{other}/environ").read()),
        "signal": got(lambda: os.kill(pid, 0)),
        "listen": got(lambda: listen(port)),
        "proxies": ",".join(f"{name},{value}" for name, value in os.environ.items() if "proxy" in name.lower()),
    }`;

/** The attacks that shell commands can make; other languages make the rest. */
const BASH = `data="$1"
  pid="$2"
  other="$3"
  key="$data/instance.key"
  begins_with=$(ls -A | tr '\\n' ',')
  mkdir -p left/in; touch left/in/file .hidden
  got() { if "$@" > /dev/null 2>&1; then echo got; else echo refused; fi; }
  times() { test -e "$1" && touch -c -d now "$1"; }
  proxies=$(env | grep -i proxy | tr '\\n' ',')
  printf '{"begins_with":"%s","read_key":"%s","read_database":"%s","chmod":"%s","chown":"%s","times":"%s","name_below":"%s","server_environment":"%s","server_files":"%s","job_environment":"%s","signal":"%s","proxies":"%s"}' \\
    "$begins_with" "$(got cat "$key")" "$(got head -c 1 "$data/svc.db")" "$(got chmod 600 "$key")" "$(got chown "$(id -u)" "$key")" \\
    "$(got times "$key")" "$(got test -e "$data/runner/versions/acme")" "$(got cat "/proc/$pid/environ")" \\
    "$(got ls "/proc/$pid/fd")" "$(got cat "/proc/$other/environ")" "$(got kill -0 "$pid")" "$proxies" > result.json`;

/**
 * Starts processes up to the limit and beyond; bounded, so that a missing limit fails a test and harms nothing.
 */
const BOMBS = {
  bun: `import { spawn } from "node:child_process";
    export async function main(mark: string) {
      for (let n = 0; n < 300; n++) { spawn("sleep", [mark], { detached: n % 2 === 0, stdio: "ignore" }).on("error", () => {}); await Bun.sleep(2) }
      await Bun.sleep(5_000);
    }`,
  python3: `import os, time
def main(mark: str):
    for n in range(300):
        try:
            if os.fork() == 0:
                if n % 2 == 0:
                    os.setsid()
                os.execvp("sleep", ["sleep", mark])
        except OSError:
            pass
        time.sleep(0.002)
    time.sleep(5)`,
  bash: `mark="$1"
    f() { if [ "$1" -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & wait; else sleep "$mark"; fi; }
    f 7`,
} as const;

const PROBES = { bun: BUN, python3: PYTHON, bash: BASH } as const;
type ProbeLanguage = keyof typeof PROBES;
const hasPython = Bun.which("python3", { PATH: "/usr/bin" }) !== null;
const LANGUAGES = (Object.keys(PROBES) as ProbeLanguage[]).filter((each) => each !== "python3" || hasPython);
const PASSWORD = "proxy-password";

const found = [...variants(), ...listUnsandboxedVariants()];
if (found.length === 0) test.skip("sandbox tests of languages run on Linux", () => {});

describe.each(found)("a server of $name", (variant) => {
  let started: Started;
  let other: number;
  const isInBubblewrap = variant.name.endsWith("in bubblewrap");
  /** Without file restrictions, a user's scripts can open what the user can. */
  const isOpen = !variant.keepsModes && variant.name.endsWith("without Landlock");
  const isOff = variant.env.SVC_SANDBOX === "off";

  beforeAll(async () => {
    const env = { HTTPS_PROXY: `http://user:${PASSWORD}@127.0.0.1:9/`, SVC_JOB_PROCESSES: "40" };
    started = await startVariant(variant, env);
    const { scripts } = started;
    await scripts.deploy("fine", "export const main = () => process.pid");
    const job = await scripts.run<number>("fine");
    // Its process id there is one of its own namespace.
    other = isInBubblewrap ? started.server.pid : job;
    for (const language of LANGUAGES) {
      await scripts.deploy(language, PROBES[language], { language });
      await scripts.deploy(`bomb_${language}`, BOMBS[language], { language });
    }
  }, 60_000);
  afterAll(() => started.place.remove());

  async function probe(language: ProbeLanguage): Promise<Found> {
    const { place, server, scripts } = started;
    const port = Number(new URL(server.url).port);
    return scripts.run<Found>(language, { data: place.data_dir, pid: server.pid, other, port });
  }

  test.each(LANGUAGES)(
    "protects its own files from %s",
    async (language) => {
      const { begins_with, proxies, ...tried } = await probe(language);
      const got = Object.keys(tried).filter((name) => tried[name] === "got");
      const rights = ["chmod", "times", "name_below"];
      const files = ["read_key", "read_database", "job_environment"];
      const most = variant.keepsModes ? [] : isOpen ? [...files, ...rights] : rights;
      const all = Object.keys(tried).filter((name) => name !== "listen");
      // What SECURITY.md says is possible is possible there, which shows that the attempts work.
      if (!variant.keepsModes) expect(got).toEqual(expect.arrayContaining(["chmod", "times"]));
      if (isOpen || isOff) expect(got).toContain("read_key");
      expect(Object.keys(tried).length).toBeGreaterThan(9);
      expect(got.filter((name) => !(isOff ? all : most).includes(name))).toEqual([]);
      expect([begins_with, proxies]).toEqual(["", expect.not.stringContaining(PASSWORD)]);
      expect(proxies).toContain("127.0.0.1:9");
    },
    60_000,
  );

  test.each(LANGUAGES)(
    "starts each run of %s in an empty folder",
    async (language) => {
      expect((await probe(language)).begins_with).toBe("");
      expect((await probe(language)).begins_with).toBe("");
    },
    60_000,
  );

  test.if(!isOff).each(LANGUAGES)(
    "kills endless processes of %s",
    async (language) => {
      const mark = `33.${Math.floor(Math.random() * 1e9)}`;
      const { error } = await started.scripts.run<{ error?: { name: string } }>(`bomb_${language}`, { mark });
      expect(error?.name).toBe("TooManyProcesses");
      const left = async () => (await processesOf(mark)).filter((line) => !line.includes("bwrap"));
      const gone = async () => ((await left()).length === 0 ? true : undefined);
      expect(await until(gone, "all of them to end")).toBe(true);
      expect(await started.scripts.run<number>("fine")).toBeGreaterThan(0);
    },
    60_000,
  );

  test.if(isInBubblewrap)("hides other processes from scripts", async () => {
    await started.scripts.deploy("ps", "ls -d /proc/[0-9]* | wc -l", { language: "bash" });
    expect(Number(await started.scripts.run<string>("ps"))).toBeLessThan(10);
  });
});
