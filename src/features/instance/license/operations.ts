import { BadRequest } from "../../../lib/errors.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { isoTimestamp, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import {
  computeLicenseState,
  describeLicense,
  parseLicenseKey,
  readCurrentLicense,
} from "../../tenancy/license/service.ts";
import { readLicense } from "../../tenancy/license/signed-license.ts";
import { findLatestAttempt, renewLicense } from "./renewal.ts";

export const getLicenseId = operation({
  name: "getLicenseId",
  method: "GET",
  path: "/ee_license",
  access: "user",
  allowsWorkspaceTokens: true,
  scope: false,
  summary: "Read the id of the license; empty without a valid one",
  responds: responds.text("license id or empty"),
  run: async ({ app }) => {
    const { license } = await readCurrentLicense(app);
    return license && computeLicenseState(license, app.clock()) !== "over" ? license.id : "";
  },
});

export const testLicenseKey = operation({
  name: "testLicenseKey",
  method: "POST",
  path: "/settings/test_license_key",
  access: "superAdmin",
  summary: "Check a license without setting it",
  body: z.object({ license_key: z.string() }),
  responds: responds.text("whose it is and for how long"),
  audit: { operation: "license.test", action_kind: "Execute" },
  run: async (ctx, { body }) => {
    const license = await parseLicenseKey(ctx.app, body.license_key);
    await ctx.write({ resource: license.id }, async () => {});
    return describeLicense(license, ctx.app.clock());
  },
});

const OtherKey = z.object({
  /** A license to use instead of the configured one. */
  license_key: optionalField(z.string().min(1)),
});

/** Returns the given license text, or the configured one. @throws BadRequest if there is neither */
function requireKeyText(app: App, given: string | undefined): string {
  const key = given ?? app.settings.get("license_key");
  if (key === undefined) throw new BadRequest("no license is set, and none is given as `license_key`");
  return key;
}

export const renewLicenseKey = operation({
  name: "renewLicenseKey",
  method: "POST",
  path: "/settings/renew_license_key",
  access: "superAdmin",
  summary: "Renew the license at its renewal URL, and set it",
  query: OtherKey,
  responds: responds.text("whose it is and for how long"),
  audit: { operation: "license.renew", action_kind: "Update" },
  run: async (ctx, { query }) => {
    const { app } = ctx;
    const license = await renewLicense(
      app,
      requireKeyText(app, query.license_key),
      ctx.caller.identity.email,
      (store) => ctx.write({ resource: "license_key" }, store),
    );
    return describeLicense(license, app.clock());
  },
});

export const getLatestKeyRenewalAttempt = operation({
  name: "getLatestKeyRenewalAttempt",
  method: "GET",
  path: "/settings/latest_key_renewal_attempt",
  access: "superAdmin",
  summary: "Read the time and result of the last renewal attempt; null without one",
  responds: responds.json(z.object({ result: z.string(), attempted_at: isoTimestamp }).nullable()),
  run: async (ctx) => (await findLatestAttempt(ctx.app)) ?? null,
});

export const createCustomerPortalSession = operation({
  name: "createCustomerPortalSession",
  method: "POST",
  path: "/settings/customer_portal",
  access: "superAdmin",
  summary: "Read the URL of the license's customer portal",
  query: OtherKey,
  responds: responds.text("URL"),
  audit: { operation: "license.customer_portal", action_kind: "Execute" },
  run: async (ctx, { query }) => {
    const { app } = ctx;
    const license = await readLicense(
      requireKeyText(app, query.license_key),
      app.settings.get("license_public_key"),
    );
    if (!license.portal_url) throw new BadRequest(`license ${license.id} names no customer portal`);
    await ctx.write({ resource: license.id }, async () => {});
    return license.portal_url;
  },
});

export const licenseOperations: Operation[] = [
  getLicenseId,
  testLicenseKey,
  renewLicenseKey,
  getLatestKeyRenewalAttempt,
  createCustomerPortalSession,
];
