/**
 * Languages whose program is installed on the machine: signature, arguments, results, errors, sandbox. Without
 * the program, the error says so.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROGRAMS } from "../../../src/engines/languages/programs/table.ts";
import {
  type Ask,
  createTemporaryFolder,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

interface Case {
  /** Has the parameters `name` (a text), `times` (an integer) and `tags` (a list), and returns them. */
  echo: string;
  required: string[];
  /** Fails with "no luck". */
  fails: string;
  /** Has a syntax error. */
  broken: string;
  /** Tries to read the file at `path`. */
  reads: string;
  /** Needs a package, which the error names; absent for languages whose packages are installed. */
  packaged?: [content: string, name: string];
}

const CASES: Record<string, Case> = {
  go: {
    echo: `package inner

import "fmt"

type Answer struct {
	Said string   \`json:"said"\`
	Tags []string \`json:"tags"\`
}

// main greets
func main(name string, times int, tags []string) (interface{}, error) {
	fmt.Println("hello, log")
	return Answer{fmt.Sprint(name, "*", times), tags}, nil
}
`,
    required: ["name", "times", "tags"],
    fails:
      'package inner\n\nimport "errors"\n\nfunc main() (string, error) {\n\treturn "", errors.New("no luck")\n}\n',
    broken: "package inner\n\nfunc main() int {\n\treturn nothing\n}\n",
    reads:
      'package inner\n\nimport "os"\n\nfunc main(path string) (string, error) {\n\ttext, err := os.ReadFile(path)\n\treturn string(text), err\n}\n',
  },
  php: {
    echo: `<?php
// greets
function main(string $name, int $times = 2, array $tags = []) {
    echo "hello, log\\n";
    return ["said" => "$name*$times", "tags" => $tags];
}
`,
    required: ["name"],
    fails: '<?php\nfunction main() {\n    throw new Exception("no luck");\n}\n',
    broken: "<?php\nfunction main() {\n    return nothing(;\n}\n",
    reads:
      "<?php\nfunction main(string $path) {\n    $text = @file_get_contents($path);\n    if ($text === false) throw new Exception(error_get_last()['message']);\n    return $text;\n}\n",
  },
  ruby: {
    echo: `# greets
def main(name, times = 2, tags: [])
  puts "hello, log"
  { said: "#{name}*#{times}", tags: tags }
end
`,
    required: ["name"],
    fails: 'def main\n  raise "no luck"\nend\n',
    broken: "def main\n  return (\nend\n",
    reads: "def main(path)\n  File.read(path)\nend\n",
  },
  rust: {
    echo: `use crate::json::Json;
use std::collections::BTreeMap;

/// greets
fn main(name: String, times: i64, tags: Vec<String>) -> Result<BTreeMap<String, Json>, String> {
    println!("hello, log");
    let tags = tags.into_iter().map(Json::String).collect();
    Ok(BTreeMap::from([
        ("said".to_string(), Json::String(format!("{name}*{times}"))),
        ("tags".to_string(), Json::Array(tags)),
    ]))
}
`,
    required: ["name", "times", "tags"],
    fails: 'fn main() -> Result<(), String> {\n    Err("no luck".to_string())\n}\n',
    broken: "fn main() -> i32 {\n    nothing\n}\n",
    reads:
      "fn main(path: String) -> Result<String, std::io::Error> {\n    std::fs::read_to_string(path)\n}\n",
  },
  powershell: {
    echo: `# greets
param([string]$name, [int]$times = 2, [array]$tags = @())
Write-Host "hello, log"
@{ said = "$name*$times"; tags = @($tags) }
`,
    required: [],
    fails: 'throw "no luck"\n',
    broken: "param(\n",
    reads: "param([string]$path)\nGet-Content -Raw $path\n",
    packaged: ["Import-Module SomeThing\n", "SomeThing"],
  },
};

let deployed = 0;
async function run(language: string, content: string, args: object): Promise<unknown> {
  const path = `u/admin/program_${deployed++}`;
  await deploy(ask, "acme", path, content, { language });
  return (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args)).json();
}

describe.each(Object.entries(CASES))("%s", (language, script) => {
  const tool = PROGRAMS[language as keyof typeof PROGRAMS];
  const isThere = Bun.which(tool.tool) !== null;
  const withTool = test.skipIf(!isThere);
  if (!isThere) console.warn(`${tool.tool} is not installed: ${language} scripts are not run by these tests`);

  test("the parameters of main are parsed without the tool", async () => {
    await deploy(ask, "acme", `u/admin/echo_${language}`, script.echo, { language });
    const { schema } = (await ask("GET", `/w/acme/scripts/get/p/u/admin/echo_${language}`)).json();
    expect(schema.order).toEqual(["name", "times", "tags"]);
    expect(schema.required).toEqual(script.required);
    expect(schema.properties.times.type ?? "integer").toBe("integer");
    expect(schema.properties.tags.type).toBe("array");
  });

  withTool("arguments arrive, the result is JSON, and what is printed is the log", async () => {
    const args = { name: 'A"ñ\n\\🙂\u0001', times: 3, tags: ["x", "y z"] };
    const id = (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/echo_${language}`, args))).text;
    const resultOf = () => ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`);
    await until(async () => (await resultOf()).json().completed || undefined, "the job's end");
    const again = await ask("POST", `/w/acme/jobs/run_wait_result/p/u/admin/echo_${language}`, args);
    expect(again.json()).toEqual({ said: `${args.name}*3`, tags: args.tags });
    const log = await ask("GET", `/w/acme/jobs_u/get_logs/${id}`);
    expect(log.text).toContain("hello, log");
  });

  withTool("an error fails the job with its message", async () => {
    expect(await run(language, script.fails, {})).toMatchObject({
      error: { message: expect.stringContaining("no luck") },
    });
  });

  withTool("a script that does not parse is stored, and its run says where", async () => {
    const path = `u/admin/broken_${language}`;
    await deploy(ask, "acme", path, script.broken, { language });
    const { text } = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {});
    expect(text).toContain(path);
    expect(text).toMatch(/Syntax error at line \d|broken_\w+\.\w+:\d|program_/);
  });

  withTool("it runs behind the walls of every script", async () => {
    const path = `${server.data_dir}/svc.db`;
    expect(await run(language, script.reads, { path })).toHaveProperty("error.message");
    const other = { path: "/etc/os-release" };
    expect(await run(language, script.reads, other)).toContain("NAME=");
  });

  test("missing tools, and packages of an index, are named by the run", async () => {
    if (script.packaged) {
      const [content, name] = script.packaged;
      expect(await run(language, content, {})).toMatchObject({
        error: { message: expect.stringContaining(name) },
      });
    }
    if (isThere) return;
    expect(await run(language, script.echo, { name: "x" })).toMatchObject({
      error: { message: expect.stringContaining(tool.install) },
    });
  });
});

test.skipIf(!Bun.which("php"))(
  "PHP in a folder with other programs can be run, and does not see them",
  async () => {
    const { PATH } = process.env;
    const folder = createTemporaryFolder("svc-php-");
    const [bin, secret] = [join(folder, "bin"), join(folder, "secret")];
    mkdirSync(bin);
    copyFileSync(realpathSync(Bun.which("php")!), join(bin, "php"));
    writeFileSync(secret, "not-for-scripts");
    process.env.PATH = `${bin}:${PATH}`;
    try {
      const content = `<?php
function main() {
    return [PHP_BINARY, @file_get_contents('${secret}'), extension_loaded('ctype')];
}`;
      const body = { content, language: "php", args: {} };
      const answer = await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/preview", body));
      expect(answer.json()).toEqual([join(bin, "php"), false, true]);
    } finally {
      process.env.PATH = PATH;
      rmSync(folder, { recursive: true });
    }
  },
);
