/**
 * Whether the instance has a licence that holds. When one ends, nothing is lost: for GRACE_DAYS more everything goes on
 * and an alert tells of it, then the operations of the Enterprise Edition are refused until there is another one. What
 * they have stored stays.
 */

import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest, EnterpriseRequired } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { type License, readLicense } from "./key.ts";

export const GRACE_DAYS = 30;
const DAY_MS = 24 * 3_600_000;

export type LicenseState = "holds" | "grace" | "over";

/** Where a licence stands at a moment. */
export function stateOf(license: License, now: Date): LicenseState {
  if (now < license.expires_at) return "holds";
  return now < graceEnd(license) ? "grace" : "over";
}

export function graceEnd(license: License): Date {
  return new Date(license.expires_at.getTime() + GRACE_DAYS * DAY_MS);
}

interface Read {
  license?: License;
  problem?: string;
}

/** Signatures are checked once per key, not once per call. */
const lastRead = perApp<App, { of: string; read: Promise<Read> }>(() => ({
  of: "",
  read: Promise.resolve({}),
}));

/** The licence that is set, if it is one; else what is wrong with it. */
export function currentLicense(app: App): Promise<Read> {
  const [key, public_key] = [app.settings.get("license_key"), app.settings.get("license_public_key")];
  if (key === undefined) return Promise.resolve({ problem: "no licence is set" });
  const last = lastRead(app);
  const of = `${key}\n${public_key}`;
  if (last.of !== of) {
    last.of = of;
    last.read = readLicense(key, public_key).then(
      (license) => ({ license }),
      (cause) => ({ problem: cause instanceof BadRequest ? cause.message : "the licence cannot be read" }),
    );
  }
  return last.read;
}

/** Whether Enterprise operations are served: every workspace of such an instance is premium, none of another. */
export async function hasLicense(app: App): Promise<boolean> {
  const { license } = await currentLicense(app);
  return license !== undefined && stateOf(license, app.clock()) !== "over";
}

/**
 * What every operation of the Enterprise Edition asks first.
 * @throws EnterpriseRequired saying why there is no licence that holds
 */
export async function requireLicense(app: App): Promise<License> {
  const { license, problem } = await currentLicense(app);
  if (license && stateOf(license, app.clock()) !== "over") return license;
  const why = license ? `the licence ended at ${license.expires_at.toISOString()}` : problem;
  throw new EnterpriseRequired(`this needs the Enterprise Edition: ${why}`, {
    hint: "a super admin sets the setting license_key; what is stored stays as it is meanwhile",
  });
}

/** For a person: whose it is and for how long. */
export function describeLicense(license: License, now: Date): string {
  const { id, customer, seats, expires_at } = license;
  const of = `licence ${id} of ${customer}${seats === undefined ? "" : ` (${seats} seats)`}`;
  const end = expires_at.toISOString();
  switch (stateOf(license, now)) {
    case "holds":
      return `${of} holds until ${end}`;
    case "grace":
      return `${of} ended at ${end}; Enterprise operations keep working until ${graceEnd(license).toISOString()}`;
    case "over":
      return `${of} ended at ${end}`;
  }
}

/**
 * A licence text that may be set.
 * @throws BadRequest when it is none, or over
 */
export async function checkLicenseKey(app: App, text: string): Promise<License> {
  const license = await readLicense(text, app.settings.get("license_public_key"));
  if (stateOf(license, app.clock()) !== "over") return license;
  throw new BadRequest(describeLicense(license, app.clock()));
}
