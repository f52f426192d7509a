/** Features that need bundled files, with the executable alone in an empty folder: mail, licenses, XML. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { CERTIFICATE, MAIL_USER, startMailServer } from "../../support/peers/mail-server.ts";
import { createInstallation, type Installation } from "./executable.ts";

let place: Installation;

beforeEach(() => {
  place = createInstallation();
});
afterEach(() => place.remove());

test("sends mail over STARTTLS, checks a license, and reads metadata", async () => {
  const said = async (args: string[], options: object = {}) => {
    const { code, out, err } = await place.svc(args, options);
    if (code !== 0) throw new Error(`svc ${args.join(" ")}: ${err}`);
    return out.trim();
  };
  const public_key = await said(["license", "keygen"]);
  const key = await said(["license", "issue", "--customer", "Acme", "--id", "lic-9"]);
  const server = await place.serve({ env: { SVC_LICENSE_PUBLIC_KEY: public_key } });
  await said(["config", "set", "license_key", "-"], { stdin: key });
  expect(await said(["license", "show"])).toContain("license lic-9 of Acme holds until");
  expect(await said(["config", "get", "license_public_key"])).toBe(public_key);

  await using mails = await startMailServer();
  const smtp = {
    host: "127.0.0.1",
    port: mails.port,
    from: "svc@example.org",
    ...MAIL_USER,
    tls_implicit: false,
    disable_tls: false,
    ca: CERTIFICATE,
  };
  await server.operator("/settings/test_smtp", { to: "ann@example.org", smtp });
  expect(mails.received).toMatchObject([{ to: ["ann@example.org"], secure: true }]);

  await expect(server.operator("/saml/test_metadata", "<html/>")).rejects.toThrow("its root element is html");
}, 60_000);
