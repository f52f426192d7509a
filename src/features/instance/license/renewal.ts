/** The next licence, from where the present one says that it is given out. Every attempt is kept. */
import { desc, eq, gt, lt } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest, SvcError } from "../../../lib/errors.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";
import { askNamed, isSuccess } from "../../../platform/outgoing/settings.ts";
import { raiseAlert } from "../../signals/alerts/service.ts";
import { type License, readLicense } from "../../tenancy/license/key.ts";
import { currentLicense, describeLicense, stateOf } from "../../tenancy/license/service.ts";
import { licenseRenewals } from "../../tenancy/license/tables.ts";

const DAY_MS = 24 * 3_600_000;
/** So long before its end a licence is renewed by itself, once a day until it works. */
const AHEAD_MS = 30 * DAY_MS;
const KEPT_MS = 365 * DAY_MS;
const ANSWER_MS = 15_000;
/** A licence is some hundred characters. */
const MAX_ANSWER = 20_000;

const BEGUN = "the attempt has begun, and its end is not known";
export const SUCCESS = "success";

export interface Attempt {
  result: string;
  attempted_at: Date;
}

export async function latestAttempt(app: App): Promise<Attempt | undefined> {
  const [row] = await app.db.read
    .select({ result: licenseRenewals.result, attempted_at: licenseRenewals.attempted_at })
    .from(licenseRenewals)
    .orderBy(desc(licenseRenewals.id))
    .limit(1);
  return row;
}

/** Stores a licence together with whatever tells of it. */
export type Keep = (store: (tx: Tx) => Promise<void>) => Promise<void>;

/**
 * Asks for the next licence and sets it.
 * @param text the licence to renew
 * @param begun the attempt, where it is stored already
 * @throws BadRequest saying why there is none; the attempt is kept either way
 */
export async function renew(
  app: App,
  text: string,
  by: string,
  keep: Keep,
  begun?: number,
): Promise<License> {
  const id = begun ?? (await begin(app));
  try {
    const { key, license } = await fetchNext(app, text);
    await keep(async (tx) => {
      await app.settings.put(tx, "license_key", key, by);
      await tx.update(licenseRenewals).set({ result: SUCCESS }).where(eq(licenseRenewals.id, id));
    });
    return license;
  } catch (cause) {
    const result = cause instanceof SvcError ? cause.message : "it failed; the log says more";
    await app.db.write((tx) => tx.update(licenseRenewals).set({ result }).where(eq(licenseRenewals.id, id)));
    throw cause;
  }
}

async function begin(app: App): Promise<number> {
  return app.db.write((tx) => insertAttempt(app, tx));
}

/** Of several servers one renews. @returns undefined when there was an attempt within a day */
async function beginOncePerDay(app: App): Promise<number | undefined> {
  if (await wasTried(app, app.db.read)) return undefined;
  return app.db.write(async (tx) => {
    await tx.lock("license renewal");
    return (await wasTried(app, tx)) ? undefined : insertAttempt(app, tx);
  });
}

async function wasTried(app: App, db: Reader): Promise<boolean> {
  const [row] = await db
    .select({ id: licenseRenewals.id })
    .from(licenseRenewals)
    .where(gt(licenseRenewals.attempted_at, new Date(app.clock().getTime() - DAY_MS)))
    .limit(1);
  return row !== undefined;
}

async function insertAttempt(app: App, tx: Tx): Promise<number> {
  const now = app.clock();
  await tx.delete(licenseRenewals).where(lt(licenseRenewals.attempted_at, new Date(now.getTime() - KEPT_MS)));
  const [row] = await tx
    .insert(licenseRenewals)
    .values({ attempted_at: now, result: BEGUN })
    .returning({ id: licenseRenewals.id });
  return row!.id;
}

async function fetchNext(app: App, text: string): Promise<{ key: string; license: License }> {
  const { source } = app.settings.find("license_key");
  if (source === "environment") {
    throw new BadRequest("the licence is set by SVC_LICENSE_KEY, so a new one would not hold: set it there");
  }
  const public_key = app.settings.get("license_public_key");
  const present = await readLicense(text, public_key);
  if (!present.renewal_url) {
    throw new BadRequest(`licence ${present.id} does not say where it is renewed: ask whoever issued it`);
  }
  const key = await ask(app, present.renewal_url, {
    license_key: text,
    instance: app.settings.get("uid"),
    version: VERSION,
  });
  const license = await readLicense(key, public_key);
  if (license.expires_at <= present.expires_at || stateOf(license, app.clock()) !== "holds") {
    throw new BadRequest(`the answer is no newer licence: ${describeLicense(license, app.clock())}`);
  }
  return { key, license };
}

async function ask(app: App, url: string, body: object): Promise<string> {
  const answer = await askNamed(app, {
    url,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    timeout_ms: ANSWER_MS,
    max_bytes: MAX_ANSWER,
  });
  if (isSuccess(answer)) return answer.body.toString().trim();
  const { host } = new URL(url);
  throw new BadRequest(`${host} gives out no new licence: it answers with status ${answer.status}`);
}

/** Which states of which licences this process has told of. */
const told = perApp<App, Set<string>>(() => new Set());

/** Renews a licence that nears its end, once a day, and raises an alert when that fails or the end has come. */
export async function tendLicense(app: App): Promise<void> {
  const { license } = await currentLicense(app);
  const now = app.clock();
  if (!license || license.expires_at.getTime() - now.getTime() > AHEAD_MS) return;
  const state = stateOf(license, now);
  if (state !== "holds" && !told(app).has(`${license.id} ${state}`)) {
    told(app).add(`${license.id} ${state}`);
    await raiseAlert(app, { kind: "license_ended", message: describeLicense(license, now), subject: state });
  }
  if (!license.renewal_url || app.settings.find("license_key").source !== "stored") return;
  const begun = await beginOncePerDay(app);
  if (begun === undefined) return;
  try {
    await renew(app, app.settings.get("license_key")!, "svc", (store) => app.db.write(store), begun);
    app.log.info({ license: license.id }, "the licence was renewed");
  } catch (cause) {
    const why = cause instanceof SvcError ? cause.message : "it failed; the log says more";
    if (!(cause instanceof SvcError))
      app.log.error({ error: String(cause) }, "the licence could not be renewed");
    const message = `licence ${license.id}, which ends at ${license.expires_at.toISOString()}, could not be renewed: ${why}`;
    await raiseAlert(app, { kind: "license_renewal_failed", message, subject: license.id });
  }
}
