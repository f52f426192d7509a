/**
 * The state of the instance's license. When a license expires, everything keeps working for GRACE_DAYS and an alert
 * reports it. After that, operations of the Enterprise Edition are refused until a new license is set. Data stored by
 * them stays.
 *
 * Every operation of the Enterprise Edition begins with `await requireLicense(app)`.
 */

import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest, EnterpriseRequired } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { type License, readLicense } from "./signed-license.ts";

export const GRACE_DAYS = 30;
const DAY_MS = 24 * 3_600_000;

export type LicenseState = "holds" | "grace" | "over";

/** Returns the state of a license at a given time. */
export function computeLicenseState(license: License, now: Date): LicenseState {
  if (now < license.expires_at) return "holds";
  return now < computeGraceEnd(license) ? "grace" : "over";
}

export function computeGraceEnd(license: License): Date {
  return new Date(license.expires_at.getTime() + GRACE_DAYS * DAY_MS);
}

interface LicenseStatus {
  license?: License;
  problem?: string;
}

/** Caches the parsed license, so its signature is verified once per key, not once per call. */
const statusCache = memoizePerApp<App, { of: string; read: Promise<LicenseStatus> }>(() => ({
  of: "",
  read: Promise.resolve({}),
}));

/** Returns the configured license, or the problem with it. */
export function readCurrentLicense(app: App): Promise<LicenseStatus> {
  const [key, public_key] = [app.settings.get("license_key"), app.settings.get("license_public_key")];
  if (key === undefined) return Promise.resolve({ problem: "no license is set" });
  const last = statusCache(app);
  const of = `${key}\n${public_key}`;
  if (last.of !== of) {
    last.of = of;
    last.read = readLicense(key, public_key).then(
      (license) => ({ license }),
      (cause) => ({ problem: cause instanceof BadRequest ? cause.message : "the license cannot be read" }),
    );
  }
  return last.read;
}

/**
 * Whether Enterprise operations are available. With a license all workspaces of the instance are premium, without one
 * none is.
 */
export async function hasLicense(app: App): Promise<boolean> {
  const { license } = await readCurrentLicense(app);
  return license !== undefined && computeLicenseState(license, app.clock()) !== "over";
}

/**
 * Returns the valid license. Every operation of the Enterprise Edition calls this first.
 * @throws EnterpriseRequired saying why there is no valid license
 */
export async function requireLicense(app: App): Promise<License> {
  const { license, problem } = await readCurrentLicense(app);
  if (license && computeLicenseState(license, app.clock()) !== "over") return license;
  const why = license ? `the license ended at ${license.expires_at.toISOString()}` : problem;
  throw new EnterpriseRequired(`this needs the Enterprise Edition: ${why}`, {
    hint: "a super admin sets the setting license_key; what is stored stays as it is meanwhile",
  });
}

/** Describes a license for people: its customer and its validity. */
export function describeLicense(license: License, now: Date): string {
  const { id, customer, seats, expires_at } = license;
  const of = `license ${id} of ${customer}${seats === undefined ? "" : ` (${seats} seats)`}`;
  const end = expires_at.toISOString();
  switch (computeLicenseState(license, now)) {
    case "holds":
      return `${of} holds until ${end}`;
    case "grace":
      return `${of} ended at ${end}; Enterprise operations keep working until ${computeGraceEnd(license).toISOString()}`;
    case "over":
      return `${of} ended at ${end}`;
  }
}

/**
 * Parses a license text before it is stored as the setting.
 * @throws BadRequest if it is not a license, or its grace period is over
 */
export async function parseLicenseKey(app: App, text: string): Promise<License> {
  const license = await readLicense(text, app.settings.get("license_public_key"));
  if (computeLicenseState(license, app.clock()) !== "over") return license;
  throw new BadRequest(describeLicense(license, app.clock()));
}
