/** Renews the license through the URL it names. Every attempt is recorded. */
import { desc, eq, gt, lt } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest, SvcError } from "../../../lib/errors.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";
import { isSuccess, requestConfiguredUrl } from "../../../platform/outgoing/configured-targets.ts";
import { raiseAlert } from "../../signals/alerts/service.ts";
import { computeLicenseState, describeLicense, readCurrentLicense } from "../../tenancy/license/service.ts";
import { type License, readLicense } from "../../tenancy/license/signed-license.ts";
import { licenseRenewals } from "../../tenancy/license/tables.ts";

const DAY_MS = 24 * 3_600_000;
/** How long before its expiry a license is renewed automatically, with one attempt per day. */
const RENEW_BEFORE_MS = 30 * DAY_MS;
const RETENTION_MS = 365 * DAY_MS;
const RESPONSE_TIMEOUT_MS = 15_000;
/** Upper limit of the response, in bytes; a license has some hundred characters. */
const MAX_RESPONSE_BYTES = 20_000;

const OUTCOME_UNKNOWN = "the attempt was started, but its outcome is unknown";
export const RENEWAL_SUCCESS = "success";

export interface RenewalAttempt {
  result: string;
  attempted_at: Date;
}

export async function findLatestAttempt(app: App): Promise<RenewalAttempt | undefined> {
  const [row] = await app.db.read
    .select({ result: licenseRenewals.result, attempted_at: licenseRenewals.attempted_at })
    .from(licenseRenewals)
    .orderBy(desc(licenseRenewals.id))
    .limit(1);
  return row;
}

/** Runs `store` in a transaction, which may also write an audit row. */
export type RunInTransaction = (store: (tx: Tx) => Promise<void>) => Promise<void>;

/**
 * Requests the next license and stores it.
 * @param text the license to renew
 * @param begun the id of the attempt, if it is already recorded
 * @throws BadRequest saying why renewal failed; the result is recorded in either case
 */
export async function renewLicense(
  app: App,
  text: string,
  by: string,
  keep: RunInTransaction,
  begun?: number,
): Promise<License> {
  const id = begun ?? (await startAttempt(app));
  try {
    const { key, license } = await fetchNextLicense(app, text);
    await keep(async (tx) => {
      await app.settings.put(tx, "license_key", key, by);
      await tx.update(licenseRenewals).set({ result: RENEWAL_SUCCESS }).where(eq(licenseRenewals.id, id));
    });
    return license;
  } catch (cause) {
    const result = cause instanceof SvcError ? cause.message : "it failed; see the server's log";
    await app.db.write((tx) => tx.update(licenseRenewals).set({ result }).where(eq(licenseRenewals.id, id)));
    throw cause;
  }
}

async function startAttempt(app: App): Promise<number> {
  return app.db.write((tx) => insertAttempt(app, tx));
}

/** Records an attempt, on one server per day. @returns undefined if there was one within a day */
async function startDailyAttempt(app: App): Promise<number | undefined> {
  if (await hasRecentAttempt(app, app.db.read)) return undefined;
  return app.db.write(async (tx) => {
    await tx.lock("license renewal");
    return (await hasRecentAttempt(app, tx)) ? undefined : insertAttempt(app, tx);
  });
}

async function hasRecentAttempt(app: App, db: Reader): Promise<boolean> {
  const [row] = await db
    .select({ id: licenseRenewals.id })
    .from(licenseRenewals)
    .where(gt(licenseRenewals.attempted_at, new Date(app.clock().getTime() - DAY_MS)))
    .limit(1);
  return row !== undefined;
}

async function insertAttempt(app: App, tx: Tx): Promise<number> {
  const now = app.clock();
  await tx
    .delete(licenseRenewals)
    .where(lt(licenseRenewals.attempted_at, new Date(now.getTime() - RETENTION_MS)));
  const [row] = await tx
    .insert(licenseRenewals)
    .values({ attempted_at: now, result: OUTCOME_UNKNOWN })
    .returning({ id: licenseRenewals.id });
  return row!.id;
}

async function fetchNextLicense(app: App, text: string): Promise<{ key: string; license: License }> {
  const { source } = app.settings.find("license_key");
  if (source === "environment") {
    throw new BadRequest(
      "the license is set by SVC_LICENSE_KEY, so a new one would have no effect: set it there",
    );
  }
  const public_key = app.settings.get("license_public_key");
  const present = await readLicense(text, public_key);
  if (!present.renewal_url) {
    throw new BadRequest(`license ${present.id} has no renewal address: contact its issuer`);
  }
  const key = await requestLicense(app, present.renewal_url, {
    license_key: text,
    instance: app.settings.get("uid"),
    version: VERSION,
  });
  const license = await readLicense(key, public_key);
  if (license.expires_at <= present.expires_at || computeLicenseState(license, app.clock()) !== "holds") {
    throw new BadRequest(`the answer is not a newer license: ${describeLicense(license, app.clock())}`);
  }
  return { key, license };
}

async function requestLicense(app: App, url: string, body: object): Promise<string> {
  const answer = await requestConfiguredUrl(app, {
    url,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    timeout_ms: RESPONSE_TIMEOUT_MS,
    max_bytes: MAX_RESPONSE_BYTES,
  });
  if (isSuccess(answer)) return answer.body.toString().trim();
  const { host } = new URL(url);
  throw new BadRequest(`${host} issued no new license: it answered with status ${answer.status}`);
}

/** License states this process has already raised an alert for. */
const reportedStates = memoizePerApp<App, Set<string>>(() => new Set());

/** Renews a license that expires soon, once a day. Raises an alert if that fails, or if the license has expired. */
export async function renewLicenseIfDue(app: App): Promise<void> {
  const { license } = await readCurrentLicense(app);
  const now = app.clock();
  if (!license || license.expires_at.getTime() - now.getTime() > RENEW_BEFORE_MS) return;
  const state = computeLicenseState(license, now);
  if (state !== "holds" && !reportedStates(app).has(`${license.id} ${state}`)) {
    reportedStates(app).add(`${license.id} ${state}`);
    await raiseAlert(app, { kind: "license_ended", message: describeLicense(license, now), subject: state });
  }
  if (!license.renewal_url || app.settings.find("license_key").source !== "stored") return;
  const begun = await startDailyAttempt(app);
  if (begun === undefined) return;
  try {
    await renewLicense(app, app.settings.get("license_key")!, "svc", (store) => app.db.write(store), begun);
    app.log.info({ license: license.id }, "the license was renewed");
  } catch (cause) {
    const why = cause instanceof SvcError ? cause.message : "it failed; see the server's log";
    if (!(cause instanceof SvcError))
      app.log.error({ error: String(cause) }, "the license could not be renewed");
    const message = `license ${license.id}, which ends at ${license.expires_at.toISOString()}, could not be renewed: ${why}`;
    await raiseAlert(app, { kind: "license_renewal_failed", message, subject: license.id });
  }
}
