/** The composition root: the only place that knows every part. Opens, wires, starts in order and stops in reverse. */
import { connect, outageAtStart } from "../database/connect.ts";
import { migrate } from "../database/migrations/migrate.ts";
import { createRunner } from "../engines/runner/runner.ts";
import { openSetup } from "../features/accounts/sessions/setup.ts";
import { recoverFromSetBack } from "../features/lifecycle/clock-set-back.ts";
import { holdUnfinished } from "../features/lifecycle/resumable/service.ts";
import { keepFailedMigration } from "../features/signals/alerts/failed-migration.ts";
import { tellLeakedKey } from "../features/signals/alerts/own-files.ts";
import { recordAudit } from "../features/signals/audit/service.ts";
import { setInstanceWebhook } from "../features/signals/webhooks/endpoints.ts";
import { OPERATOR } from "../features/tenancy/people/local-admin.ts";
import { resolveMember } from "../features/tenancy/people/members.ts";
import { checkScopes } from "../features/tenancy/tokens/scopes.ts";
import { createTokenUse, resolveToken } from "../features/tenancy/tokens/service.ts";
import { checkInstanceKey } from "../features/tenancy/workspaces/secrets.ts";
import { createUsage } from "../features/tenancy/workspaces/usage.ts";
import { backgroundSettled } from "../lib/async/background.ts";
import { createParts } from "../lib/async/start-stop.ts";
import { closeInstanceKey, loadInstanceKey, needInstanceKey } from "../lib/crypto/instance-key.ts";
import { createLog } from "../lib/logging/log.ts";
import { createMeters, tally } from "../lib/logging/meters.ts";
import type { App } from "../platform/app/context.ts";
import type { JobsRole } from "../platform/app/loop.ts";
import { openRelay } from "../platform/cluster/bus.ts";
import { followForgetting } from "../platform/cluster/cache-invalidation.ts";
import { followClock } from "../platform/cluster/clock.ts";
import { ALWAYS_LEADER, createLeadership } from "../platform/cluster/leadership.ts";
import { followQuestions } from "../platform/cluster/request-reply.ts";
import type { Config } from "../platform/config/config.ts";
import { openSettings } from "../platform/config/store.ts";
import { createEvents } from "../platform/events/events.ts";
import type { Hooks } from "../platform/http/execute.ts";
import { mount } from "../platform/http/server.ts";
import { createQueue } from "../platform/queue/queue.ts";
import { newWorkerName } from "../platform/queue/worker-name.ts";
import { features, operations } from "./features.ts";
import { startLoops } from "./loops.ts";
import { runnerOptions } from "./runner-options.ts";
import { startWorker } from "./start-worker.ts";

const MB = 1_000_000;

/** The public address may be set at any time; until it is, it is where the server listens. */
function urlsOf(app: Pick<App, "settings">, url: string, internal = url): App["urls"] {
  return {
    get base() {
      return app.settings.get("base_url")?.replace(/\/$/, "") ?? url;
    },
    internal,
  };
}

export interface RunningApp {
  app: App;
  /** Answers a request from the network. */
  fetch: (request: Request) => Response | Promise<Response>;
  /** Answers a request of the machine's operator. */
  fetchAsOperator: (request: Request) => Response | Promise<Response>;
  /** Path of the one-time setup page, while no user exists. */
  setupPath: () => Promise<string | undefined>;
  /** Where the server can be reached, once that is known, and where by what runs on this machine. */
  listenAt: (url: string, internal?: string) => void;
  /** Sets what is done when running jobs have ended or were put back, and the database is still there. */
  onDrained: (then: () => Promise<void>) => void;
  stop: () => Promise<void>;
}

/**
 * Opens the database, brings it up to date and starts the worker. The caller holds the data directory.
 * @throws what the database says when it cannot be opened or is newer than this executable
 */
export async function createApp(config: Config, role: JobsRole = "all"): Promise<RunningApp> {
  const log = createLog(config.log_level, config.log_format);
  const db = await connect({
    data_dir: config.data_dir,
    database_url: config.database_url,
    max_bytes: config.max_database_mb * MB,
    max_connections: config.database_connections,
    lease_s: config.lease_s,
  });
  const app = { features, config, db, log } as { -readonly [K in keyof App]: App[K] };
  app.events = createEvents();
  app.events.onAnyFinished(({ status }) => tally(app.meters.finished, status));
  const others = {
    wake: () => app.relay.tell("queued"),
    cancel: (job_id: string) => app.relay.tell("cancel", job_id),
  };
  app.queue = createQueue(newWorkerName(), others, role === "own");
  app.clock = () => new Date();
  app.urls = urlsOf(app, "");
  app.meters = createMeters();
  app.accepting = true;
  app.leaving = false;
  app.leader = ALWAYS_LEADER;
  let drained = async () => {};
  const parts = createParts(log);
  parts.add("database", () => db.close());
  try {
    if (role === "worker") needInstanceKey(config.data_dir, config.secret_key);
    const leaked = closeInstanceKey(config.data_dir, config.secret_key);
    app.instanceKey = loadInstanceKey(config.data_dir, config.secret_key);
    const applied = await migrate(db).catch((cause) => {
      keepFailedMigration(app, cause);
      throw outageAtStart(config, cause) ?? cause;
    });
    if (applied.length > 0) log.debug({ migrations: applied }, "the database was brought up to date");
    const clock = followClock(db, log);
    await parts.start("clock", clock);
    app.clock = clock.now;
    app.relay = await openRelay(db, log, role === "all" || role === "worker");
    parts.add("relay", () => app.relay.stop());
    app.events.onAnyFinished(({ id }) => app.relay.tell("ended", id));
    followForgetting(app);
    followQuestions(app);
    app.settings = await openSettings(app);
    await parts.start("settings", app.settings);
    parts.add("background", () => backgroundSettled(app));
    if (leaked !== undefined) await tellLeakedKey(app, leaked);
    await checkInstanceKey(app).catch((cause) => {
      if (role === "worker") throw cause;
      log.error(
        { error: String(cause) },
        "no stored secret can be read: this server has another instance key",
      );
    });

    app.runner = createRunner(runnerOptions(app));
    await parts.start("token use", createTokenUse(app));
    await parts.start("usage", createUsage(app));

    await holdUnfinished(app);
    if (role !== "none") {
      await app.runner.start();
      parts.add("runner", () => app.runner.stop());

      await startWorker(app, parts, role, () => drained());
    }
    if (role === "all") {
      if (db.channel) {
        const leadership = createLeadership(app);
        app.leader = leadership;
        await parts.start("leadership", leadership);
      }
      clock.onSetBack((by_ms) => recoverFromSetBack(app, by_ms));
      await setInstanceWebhook(app, app.settings.get("instance_events_webhook"));
    }
    await startLoops(app, parts, role);
  } catch (cause) {
    await parts.stop().catch(() => {});
    throw cause;
  }

  const auditedChange = features.flatMap(({ on }) => on?.changeAudited ?? []);
  const hooks: Hooks = {
    resolveToken,
    resolveMember,
    checkScopes,
    async recordAudit(tx, row) {
      await recordAudit(tx, row);
      for (const note of auditedChange) await note(app, tx, row);
    },
  };
  const network = mount(app, hooks, operations);
  const local = mount(app, hooks, operations, () => OPERATOR);
  return {
    app,
    fetch: network.fetch,
    fetchAsOperator: local.fetch,
    setupPath: () => openSetup(app),
    listenAt(url, internal = url) {
      app.urls = urlsOf(app, url, internal);
    },
    onDrained(then) {
      drained = then;
    },
    stop() {
      app.leaving = true;
      app.accepting = false;
      return parts.stop();
    },
  };
}
