/** A license for tests, signed with a key that the instance is configured to trust. */
import { createKeyPair, signLicense } from "../../../src/features/tenancy/license/signed-license.ts";
import { expectOk, type TestServer } from "../harness.ts";

/** Sets a license that is valid for a day. */
export async function license({ operator }: TestServer): Promise<void> {
  const { public_key, private_pem } = await createKeyPair();
  const times = { issued_at: new Date(), expires_at: new Date(Date.now() + 86_400_000) };
  const license_key = await signLicense({ id: "lic", customer: "Acme", ...times }, private_pem);
  await expectOk(operator("POST", "/settings/global/license_public_key", { value: public_key }));
  await expectOk(operator("POST", "/settings/global/license_key", { value: license_key }));
}
