/** The server's proxies as scripts see them. */
import { describe, expect, test } from "bun:test";
import { deploy, expectOk, startTestServer } from "../../../support/harness.ts";

const PROXIES = {
  http_proxy: "http://svc:hunter2@proxy.example:3128",
  HTTPS_PROXY: "svc:hunter2@secure.example:3128/",
  https_proxy: "http://p%40ss:a@b@other.example",
  no_proxy: "localhost,127.0.0.1",
};

/** A server started in an environment with proxies. */
async function serverBehind(job_proxy_credentials?: string) {
  const before = Object.keys(PROXIES).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, PROXIES);
  try {
    return await startTestServer({
      blank_children: 0,
      ...(job_proxy_credentials && { job_proxy_credentials }),
    });
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

const SHOWS = {
  bun: `export const main = () => ["http_proxy", "HTTPS_PROXY", "https_proxy", "no_proxy"].map((name) => process.env[name])`,
  python3: `import os\ndef main():\n    return [os.environ[name] for name in ("http_proxy", "HTTPS_PROXY", "https_proxy", "no_proxy")]`,
  bash: `printf '["%s","%s","%s","%s"]' "$http_proxy" "$HTTPS_PROXY" "$https_proxy" "$no_proxy" > result.json`,
};

describe.each([
  [
    undefined,
    ["http://proxy.example:3128", "secure.example:3128/", "http://other.example", "localhost,127.0.0.1"],
  ],
  ["on", Object.values(PROXIES)],
])("with SVC_JOB_PROXY_CREDENTIALS=%s", (choice, expected) => {
  test("scripts see the allowed parts of the proxy settings", async () => {
    await using server = await serverBehind(choice);
    const { ask } = await server.workspace();
    for (const [language, content] of Object.entries(SHOWS)) {
      await deploy(ask, "acme", `u/admin/${language}`, content, { language });
      const answer = await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/p/u/admin/${language}`, {}));
      expect([language, answer.json()]).toEqual([language, expected]);
    }
  }, 60_000);
});
