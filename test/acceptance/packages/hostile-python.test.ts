/**
 * Files written by Python package clients are read with the server's rights, although package code may have
 * written them.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ask, deploy, startTestServer, type TestServer, until } from "../../support/harness.ts";
import { installClients } from "../../support/peers/packages/package-clients.ts";

const path_before = process.env.PATH;
/** Executes the code in the only requirement. */
const clients = installClients({
  uv: `#!/bin/sh
[ "$1 $2" = "pip compile" ] || exit 0
case "$(cat requirements.in)" in
  links) ln -s FOLDER/of-the-server requirements.txt ;;
  shares) ln FOLDER/of-the-server requirements.txt || mkfifo requirements.txt ;;
  blocks) mkfifo requirements.txt ;;
  floods) head -c 60000000 /dev/zero > requirements.txt ;;
  *) echo "pure==1.0" > requirements.txt ;;
esac
`,
});
let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  writeFileSync(join(clients.folder, "of-the-server"), "stolen==1.0\n");
  process.env.PATH = clients.path;
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(async () => {
  await server.stop();
  process.env.PATH = path_before;
  clients[Symbol.dispose]();
});

async function deployed(requirement: string) {
  const content = `# requirements:\n# ${requirement}\n\ndef main():\n    return 1\n`;
  const hash = await deploy(ask, "acme", `u/admin/${requirement}`, content, { language: "python3" });
  return until(async () => {
    const status = (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
    return status.lock_error_logs || status.lock ? status : undefined;
  }, `the lock of ${requirement}`);
}

test.each(["links", "shares", "blocks"])("one that %s is not read", async (requirement) => {
  const { lock, lock_error_logs } = await deployed(requirement);
  expect(lock ?? "").not.toContain("stolen");
  expect(lock_error_logs).toContain("requirements.txt of the package client is missing or no regular file");
});

test("one that is too large is not read", async () => {
  expect((await deployed("floods")).lock_error_logs).toContain("is larger than 50000000 bytes");
});

test("a regular file is the lock", async () => {
  expect((await deployed("pure")).lock).toContain("pure==1.0");
});
