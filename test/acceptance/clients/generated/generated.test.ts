/** A Python client that a stock generator makes of our own description runs the main journeys. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk, startTestServer } from "../../../support/harness.ts";
import { isOffline } from "../registry.ts";
import { toOpenapi30 } from "./openapi30.ts";

const GENERATOR = "@openapitools/openapi-generator-cli";
/** The newest version whose package holds the generator itself; later ones fetch it from elsewhere. */
const GENERATOR_VERSION = "1.0.18-5.0.0-beta2";
/** Python modules that the generated client imports. */
const MODULES = "urllib3, dateutil, six, certifi";

const folder = mkdtempSync(join(tmpdir(), "svc-generated-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(command: string[]): Promise<string> {
  const process = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([process.stdout.text(), process.stderr.text()]);
  if ((await process.exited) !== 0) throw new Error(`${command[0]}: ${errors.slice(-3_000)}`);
  return output;
}

const succeeds = (command: string[]) => {
  try {
    return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  } catch {
    return false;
  }
};

const python = ["python3", "/usr/bin/python3"].find((each) => succeeds([each, "-c", `import ${MODULES}`]));
const missing = [
  ...(isOffline ? ["the package registry"] : []),
  ...(succeeds(["java", "-version"]) ? [] : ["java"]),
  ...(python ? [] : [`python3 with ${MODULES}`]),
];
if (missing.length > 0) console.warn(`left out: the generated client, which needs ${missing.join(" and ")}`);

test.skipIf(missing.length > 0)(
  "a generated Python client runs the main journeys",
  async () => {
    await using server = await startTestServer();
    const { email, ask } = await server.user("generated", { super_admin: true });
    const password = "a password long enough";
    await expectOk(ask("POST", "/users/setpassword", { password }));

    const description = Bun.YAML.parse((await expectOk(ask("GET", "/openapi.yaml"))).text);
    await Bun.write(join(folder, "openapi.json"), JSON.stringify(toOpenapi30(description)));
    await Bun.write(join(folder, "package.json"), "{}");
    await run([process.execPath, "add", "--exact", `${GENERATOR}@${GENERATOR_VERSION}`]);
    const jar = join(folder, "node_modules", GENERATOR, "bin/openapi-generator.jar");
    const names = ["-g", "python", "--package-name", "svc_client"];
    await run(["java", "-jar", jar, "generate", "-i", "openapi.json", "-o", "client", ...names]);

    const script = join(import.meta.dir, "journeys.py");
    const output = await run([python!, script, join(folder, "client"), `${server.url}/api`, email, password]);
    const { hash, ...found } = JSON.parse(output);
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
    const [, me] = found.script_path.split("/");
    const own = (name: string) => `u/${me}/${name}`;
    expect(found).toEqual({
      whoami: email,
      workspaces: expect.arrayContaining(["generated"]),
      script_path: own("greet"),
      scripts: [own("greet")],
      waited: { hello: "Ann" },
      result: { hello: "Bob" },
      success: true,
      job_args: { name: "Bob" },
      jobs: [own("greet"), own("greet")],
      variable: "other",
      variables: [[own("key"), true]],
      schedules: [[own("daily"), false]],
      missing: 404,
    });
  },
  240_000,
);
