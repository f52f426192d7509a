/** HTTPS: certificates, their renewal, and responses to plain HTTP. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { startListener } from "../../../src/server/server.ts";
import { deploy, startTestServer, until } from "../../support/harness.ts";
import { setUpSecurity } from "./security-setup.ts";

setUpSecurity();

/** The fingerprint of the certificate that a port presents to new connections. */
function shownAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

describe("https", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-tls-"));
  const cert = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  const make = (to: string, out: string) =>
    Bun.spawnSync(
      [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
      ].concat(["-keyout", to, "-out", out, "-days", "1", "-subj", "/CN=localhost"]),
      { stdio: ["ignore", "ignore", "ignore"] },
    );
  beforeAll(() => {
    make(key, cert);
    make(join(folder, "other.pem"), join(folder, "other-cert.pem"));
    writeFileSync(join(folder, "text.pem"), "hello");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  /** A complete certificate, followed by half of the next one of its chain. @returns its file */
  const cutOff = (whole: string, file: string) => {
    const text = readFileSync(whole, "utf8");
    writeFileSync(file, text + text.slice(0, text.length / 2));
    return file;
  };

  test("is served with a certificate, and scripts still reach the service", async () => {
    const secure = await startTestServer({ tls_cert: cert, tls_key: key });
    try {
      expect(secure.url).toStartWith("https://");
      const call = (path: string, init: object = {}) =>
        fetch(`${secure.url}/api${path}`, { tls: { rejectUnauthorized: false }, ...init } as RequestInit);
      const version = await call("/version");
      expect(version.headers.get("strict-transport-security")).toBe("max-age=31536000");
      await secure.operator("POST", "/users/create", {
        email: "ann@example.org",
        password: "correct-horse",
        super_admin: true,
        username: "ann",
      });
      await secure.operator("POST", "/workspaces/create", {
        id: "acme",
        name: "acme",
        owner: "ann@example.org",
        username: "ann",
      });
      const script = `export async function main() {
        const asked = await fetch(process.env.BASE_INTERNAL_URL + "/api/version");
        return [await asked.text(), asked.headers.has("strict-transport-security")];
      }`;
      await deploy(secure.operator, "acme", "u/ann/calls", script);
      const answer = await secure.operator("POST", "/w/acme/jobs/run_wait_result/p/u/ann/calls", {});
      expect(answer.json()).toEqual([await version.text(), false]);
    } finally {
      await secure.stop();
    }
  });

  test("switches to a renewed certificate automatically, without interrupting anything; an invalid one changes nothing", async () => {
    const own = (name: string) => join(folder, `renewed-${name}.pem`);
    copyFileSync(cert, own("cert"));
    copyFileSync(key, own("key"));
    await using secure = await startTestServer({ tls_cert: own("cert"), tls_key: own("key") });
    const { port } = new URL(secure.url);
    const shown = () => shownAt(Number(port));
    const first = await shown();
    const admin = await secure.operator("POST", "/users/create", {
      email: "ann@example.org",
      password: "correct-horse",
      super_admin: true,
      username: "ann",
    });
    expect(admin.status).toBe(201);
    await secure.operator("POST", "/workspaces/create", {
      id: "acme",
      name: "acme",
      owner: "ann@example.org",
    });
    const script = "export async function main() { await Bun.sleep(6000); return 'whole' }";
    await deploy(secure.operator, "acme", "u/ann/long", script);
    const user = { impersonate_email: "ann@example.org" };
    const { text: session } = await secure.operator("POST", "/users/tokens/impersonate", user);
    const underWay = fetch(`${secure.url}/api/w/acme/jobs/run_wait_result/p/u/ann/long`, {
      method: "POST",
      headers: { authorization: `Bearer ${session}` },
      tls: { rejectUnauthorized: false },
    } as RequestInit);

    // The certificate is replaced first, and matches no key for a while.
    make(join(folder, "next-key.pem"), join(folder, "next-cert.pem"));
    renameSync(join(folder, "next-cert.pem"), own("cert"));
    await Bun.sleep(2_500);
    expect(await shown()).toBe(first);
    renameSync(join(folder, "next-key.pem"), own("key"));
    const second = await until(async () => {
      // A connection is reset if the listener closes before it has accepted it.
      const now = await shown().catch(() => first);
      return now === first ? undefined : now;
    }, "the new certificate");
    expect(await (await underWay).json()).toBe("whole");

    cutOff(own("cert"), own("cert"));
    const alert = await until(async () => {
      const alerts = (await secure.operator("GET", "/settings/critical_alerts")).json();
      return alerts.find(({ kind }: { kind: string }) => kind === "certificate_refused");
    }, "the alert");
    expect(alert.message).toContain("the one before stays");
    expect(await shown()).toBe(second);
  }, 60_000);

  test("keeps the previous certificate if the new one cannot be used to listen", async () => {
    const first = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    const listener = await startListener(
      { host: "127.0.0.1", port: 0 },
      async () => new Response("here"),
      first,
    );
    try {
      await expect(listener.renew({ cert: first.cert.slice(0, 100), key: first.key })).rejects.toThrow();
      const said = await until(() => {
        const asked = fetch(listener.url, { tls: { rejectUnauthorized: false } } as RequestInit);
        return asked.then((answer) => answer.text()).catch(() => undefined);
      }, "the answer");
      expect(said).toBe("here");
    } finally {
      await listener.close();
    }
  });

  test.each([
    [
      "a chain that is cut off",
      () => ({ tls_cert: cutOff(cert, join(folder, "cut-off.pem")), tls_key: key }),
      "cannot be used",
    ],
    ["only one file", () => ({ tls_cert: cert }), "give both"],
    ["a file that is not there", () => ({ tls_cert: cert, tls_key: join(folder, "none") }), "cannot be read"],
    ["a file of something else", () => ({ tls_cert: join(folder, "text.pem"), tls_key: key }), "in PEM"],
    [
      "another one's key",
      () => ({ tls_cert: cert, tls_key: join(folder, "other.pem") }),
      "is not the key of",
    ],
    ["the files swapped", () => ({ tls_cert: key, tls_key: cert }), "cannot be used"],
  ])("does not start with %s", async (_, files, says) => {
    await expect(startTestServer(files())).rejects.toThrow(says);
  });
});
