/**
 * Packages of Go and Rust scripts: locked at deploy, compiled in once per version, from sources that the
 * operator configures.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ask, deploy, startTestServer, type TestServer, until } from "../../support/harness.ts";
import { type GoProxy, startGoProxy } from "../../support/peers/packages/go-proxy.ts";

let server: TestServer;
let ask: Ask;

async function deployed(path: string, language: string, content: string, more: object = {}) {
  const hash = await deploy(ask, "acme", path, content, { language, ...more });
  return until(async () => {
    const { json } = await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`);
    const status = json<{ lock?: string; lock_error_logs?: string }>();
    return status.lock !== undefined || status.lock_error_logs ? status : undefined;
  }, "the end of the dependency job");
}

/** Compilers take long, and the first build compiles the standard library. */
const SLOW_MS = 120_000;

const run = async (path: string, args = {}) =>
  (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args)).json();

const before = { ...process.env };
function setEnvironment(values: Record<string, string>): void {
  Object.assign(process.env, values);
}

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(async () => {
  await server.stop();
  for (const name of ["GOPROXY", "GOSUMDB", "CARGO_HOME", ...Object.keys(SECRET_VARIABLES)]) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
});

describe.skipIf(!Bun.which("go"))("Go modules", () => {
  let proxy: GoProxy;
  const source = (word: string) =>
    `package greeting\n\nfunc Greet(name string) string { return "${word} " + name }\n`;
  const script = `package inner

import (
	"strings"

	"example.org/greeting"
)

func main(name string) (string, error) {
	return strings.ToUpper(greeting.Greet(name)), nil
}
`;

  beforeAll(() => {
    proxy = startGoProxy([
      { path: "example.org/greeting", version: "v1.0.0", source: source("hello") },
      { path: "example.org/greeting", version: "v1.2.0", source: source("good day") },
    ]);
    setEnvironment({ GOPROXY: proxy.url, GOSUMDB: "off" });
  });
  afterAll(() => proxy[Symbol.asyncDispose]());

  test(
    "are locked with their hashes, and compiled in",
    async () => {
      const { lock } = await deployed("u/admin/go_module", "go", script);
      expect(lock).toMatch(/require example\.org\/greeting v1\.2\.0\n[\s\S]*\/\/go\.sum\n[\s\S]*h1:/);
      expect(await run("u/admin/go_module", { name: "ann" })).toBe("GOOD DAY ANN");
    },
    SLOW_MS,
  );

  test(
    "a client's lock determines the version",
    async () => {
      const lock = "module other\n\ngo 1.19\n\nrequire example.org/greeting v1.0.0\n//go.sum\n";
      await deployed("u/admin/go_locked", "go", script, { lock });
      expect(await run("u/admin/go_locked", { name: "ann" })).toBe("HELLO ANN");
    },
    SLOW_MS,
  );

  test(
    "a module that the proxy lacks fails the deployment, by its name",
    async () => {
      const missing = script.replaceAll("example.org/greeting", "example.org/absent/greeting");
      const { lock_error_logs } = await deployed("u/admin/go_absent", "go", missing);
      expect(lock_error_logs).toMatch(/^go packages could not be resolved: .*example\.org\/absent/);
    },
    SLOW_MS,
  );

  test(
    "an undeployed script gets them too",
    async () => {
      const ran = await ask("POST", "/w/acme/jobs/run_wait_result/preview", {
        content: script,
        language: "go",
        args: { name: "bob" },
      });
      expect(ran.json()).toBe("GOOD DAY BOB");
    },
    SLOW_MS,
  );
});

/** The distribution's crates, where Debian's packages install them. */
const SYSTEM_CRATES = "/usr/share/cargo/registry";
const hasSerde =
  Boolean(Bun.which("cargo")) &&
  existsSync(SYSTEM_CRATES) &&
  readdirSync(SYSTEM_CRATES).some((name) => name.startsWith("serde_json-"));

const SECRET_SETTINGS = `[registry]
token = "not-for-scripts"
"secret-key" = "not-for-scripts"
[registries.own]
index = "sparse+http://ann:not-for-scripts@127.0.0.1:9/"
token = """
not-for-scripts"""
[http]
user-agent = "not-for-scripts"
timeout = 7
[env]
WORD = "not-for-scripts"
`;
const SECRET_VARIABLES = {
  CARGO_REGISTRY_TOKEN: "not-for-scripts",
  CARGO_REGISTRY_SECRET_KEY: "not-for-scripts",
  CARGO_REGISTRIES_OTHER_SECRET_KEY: "not-for-scripts",
  CARGO_REGISTRIES_OTHER_INDEX: "sparse+http://ann:not-for-scripts@127.0.0.1:9/",
};

describe.skipIf(!hasSerde)("Rust crates", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-crates-"));
    const crates = join(folder, "crates");
    const greeting = join(crates, "greeting-1.2.0");
    mkdirSync(join(greeting, "src"), { recursive: true });
    for (const name of readdirSync(SYSTEM_CRATES)) symlinkSync(join(SYSTEM_CRATES, name), join(crates, name));
    writeFileSync(
      join(greeting, "Cargo.toml"),
      '[package]\nname = "greeting"\nversion = "1.2.0"\nedition = "2021"\n',
    );
    writeFileSync(
      join(greeting, "src/lib.rs"),
      'pub fn greet(name: &str) -> String {\n    format!("good day {name}")\n}\n',
    );
    writeFileSync(join(greeting, ".cargo-checksum.json"), '{"files":{}}');
    writeFileSync(
      join(folder, "config.toml"),
      `[source.crates-io]\nreplace-with = "local"\n[source.local]\ndirectory = ${JSON.stringify(crates)}\n${SECRET_SETTINGS}`,
    );
    setEnvironment({ CARGO_HOME: folder });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const script = `//! Greets.
//!
//! \`\`\`cargo
//! [dependencies]
//! greeting = "1"
//! serde = { version = "1", features = ["derive"] }
//! \`\`\`
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
pub struct Person {
    name: String,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Serialize)]
pub struct Answer {
    said: String,
    tags: Vec<String>,
}

pub fn main(person: Person, loud: Option<bool>) -> Result<Answer, Box<dyn std::error::Error>> {
    let said = greeting::greet(&person.name);
    if person.name.is_empty() {
        return Err("no name".into());
    }
    let said = if loud == Some(true) { said.to_uppercase() } else { said };
    Ok(Answer { said, tags: person.tags })
}
`;

  test(
    "are locked, compiled in, and convert arguments and results by serde",
    async () => {
      const { lock } = await deployed("u/admin/crates", "rust", script);
      expect(lock).toMatch(/name = "greeting"\nversion = "1\.2\.0"/);
      const person = { name: "Añn", tags: ["x"] };
      expect(await run("u/admin/crates", { person, loud: true })).toEqual({
        said: "GOOD DAY AÑN",
        tags: ["x"],
      });
      expect(await run("u/admin/crates", { person: { name: "" } })).toMatchObject({
        error: { message: "no name" },
      });
      expect(await run("u/admin/crates", { person: { tags: [] } })).toMatchObject({
        error: { name: "ArgumentError", message: expect.stringContaining("missing field `name`") },
      });
    },
    2 * SLOW_MS,
  );

  test(
    "a script sees no secret of a registry or proxy while it is compiled",
    async () => {
      const names = Object.keys(SECRET_VARIABLES);
      const spy = `use serde::Serialize as _;
pub fn main() -> (&'static str, Vec<Option<&'static str>>) {
    (include_str!("../.cargo/config.toml"), vec![${names.map((name) => `option_env!("${name}")`).join(", ")}])
}
`;
      setEnvironment(SECRET_VARIABLES);
      await deployed("u/admin/crates_spy", "rust", spy);
      const seen = (await run("u/admin/crates_spy")) as [string, (string | null)[]];
      expect(seen[0]).toContain("directory =");
      expect(JSON.stringify(seen)).not.toContain("not-for-scripts");
      expect(seen[1]).toEqual([null, null, null, "sparse+http://127.0.0.1:9/"]);
    },
    SLOW_MS,
  );

  test(
    "a missing crate fails the deployment, by its name",
    async () => {
      const { lock_error_logs } = await deployed(
        "u/admin/crate_absent",
        "rust",
        "use not_to_be_had::Thing;\nfn main() -> i32 { 1 }\n",
      );
      expect(lock_error_logs).toMatch(/^rust packages could not be resolved: .*not_to_be_had/);
    },
    SLOW_MS,
  );
});
