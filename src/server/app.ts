/**
 * Composition root: the only module that knows every part. It opens and wires the parts, starts them in order and stops
 * them in reverse.
 */

import { migrateDatabase } from "../database/migrations/migrate.ts";
import { explainOutage, openDatabase } from "../database/open-database.ts";
import { createRunner } from "../engines/runner/runner.ts";
import { createSetupLink } from "../features/accounts/sessions/setup.ts";
import { recoverFromClockSetBack } from "../features/lifecycle/clock-set-back.ts";
import { storeFailedMigration } from "../features/signals/alerts/failed-migration.ts";
import { alertExposedKey } from "../features/signals/alerts/file-permissions.ts";
import { recordAudit } from "../features/signals/audit/service.ts";
import { setInstanceWebhook } from "../features/signals/webhooks/endpoints.ts";
import { identifyLocalCaller } from "../features/tenancy/people/local-admin.ts";
import { resolveMember } from "../features/tenancy/people/members.ts";
import { restoreUnfinished } from "../features/tenancy/resumable/service.ts";
import { requireScope } from "../features/tenancy/tokens/scopes.ts";
import { createTokenUseFlusher, resolveToken } from "../features/tenancy/tokens/service.ts";
import { requireInstanceKey } from "../features/tenancy/workspaces/secrets.ts";
import { createUsageFlusher } from "../features/tenancy/workspaces/usage.ts";
import { awaitBackground } from "../lib/async/background.ts";
import { createServiceStack } from "../lib/async/service.ts";
import { loadInstanceKey, protectInstanceKey, requireSharedInstanceKey } from "../lib/crypto/instance-key.ts";
import { createLog } from "../lib/logging/log.ts";
import { createMeters, incrementCount } from "../lib/logging/meters.ts";
import type { App } from "../platform/app/context.ts";
import type { JobsRole } from "../platform/app/loop.ts";
import { openClusterBus } from "../platform/cluster/bus.ts";
import { startInvalidations } from "../platform/cluster/cache-invalidation.ts";
import { createDatabaseClock } from "../platform/cluster/clock.ts";
import { ALWAYS_LEADER, createLeadership } from "../platform/cluster/leadership.ts";
import { serveQueries } from "../platform/cluster/request-reply.ts";
import type { Config } from "../platform/config/config.ts";
import { openSettings } from "../platform/config/settings-store.ts";
import { createEvents } from "../platform/events/events.ts";
import type { OperationPolicies } from "../platform/http/execute.ts";
import { type MountedServer, mountOperations } from "../platform/http/server.ts";
import { createQueue } from "../platform/queue/queue.ts";
import { createWorkerName } from "../platform/queue/worker-name.ts";
import { serveConsole } from "./console/serve.ts";
import { features, operations } from "./features.ts";
import { startLoops } from "./loops.ts";
import { createRunnerOptions } from "./runner-options.ts";
import { startWorker } from "./start-worker.ts";

const MB = 1_000_000;

/** Creates the app's addresses. The public address is a setting; until it is set, it is the listening address. */
function createUrls(app: Pick<App, "settings">, url: string, internal = url): App["urls"] {
  return {
    get base() {
      return app.settings.get("base_url")?.replace(/\/$/, "") ?? url;
    },
    internal,
  };
}

export interface RunningApp {
  app: App;
  /** Handles a request from the network. */
  fetch: (request: Request) => Response | Promise<Response>;
  /** Handles a request of the local admin. */
  fetchAsLocalAdmin: (request: Request) => Response | Promise<Response>;
  /** Returns the path of the one-time setup page while no user exists. */
  setupPath: () => Promise<string | undefined>;
  /** Sets the listening address, and the address for jobs on this machine. */
  setListenUrls: (url: string, internal?: string) => void;
  /** Sets a callback that runs after jobs have drained, while the database is still open. */
  onDrained: (then: () => Promise<void>) => void;
  stop: () => Promise<void>;
}

/**
 * Opens and migrates the database, and starts the worker. The caller must hold the data directory's lock.
 * @throws errors of the database if it cannot be opened or is newer than this executable
 */
export async function createApp(config: Config, role: JobsRole = "all"): Promise<RunningApp> {
  const log = createLog(config.log_level, config.log_format, config.log_dir);
  const db = await openDatabase({
    data_dir: config.data_dir,
    database_url: config.database_url,
    max_bytes: config.max_database_mb * MB,
    max_connections: config.database_connections,
    lease_s: config.lease_s,
  });
  const app = { features, config, db, log } as { -readonly [K in keyof App]: App[K] };
  app.events = createEvents();
  app.events.onAnyFinished(({ status }) => incrementCount(app.meters.finished, status));
  const others = {
    wake: () => app.bus.publish("queued"),
    cancel: (job_id: string) => app.bus.publish("cancel", job_id),
  };
  app.queue = createQueue(createWorkerName(), others, role === "own");
  app.clock = () => new Date();
  app.urls = createUrls(app, "");
  app.meters = createMeters();
  app.acceptsJobs = true;
  app.isStopping = false;
  app.leader = ALWAYS_LEADER;
  let drained = async () => {};
  const parts = createServiceStack(log);
  parts.add("database", () => db.close());
  try {
    if (role === "worker") requireSharedInstanceKey(config.data_dir, config.secret_key);
    const leaked = protectInstanceKey(config.data_dir, config.secret_key);
    app.instanceKey = loadInstanceKey(config.data_dir, config.secret_key);
    const applied = await migrateDatabase(db).catch((cause) => {
      storeFailedMigration(app, cause);
      throw explainOutage(config, cause) ?? cause;
    });
    if (applied.length > 0) log.debug({ migrations: applied }, "the database was migrated");
    const clock = createDatabaseClock(db, log);
    await parts.start("clock", clock);
    app.clock = clock.now;
    app.bus = await openClusterBus(db, log, role === "all" || role === "worker");
    parts.add("bus", () => app.bus.stop());
    app.events.onAnyFinished(({ id }) => {
      if (app.bus.hasPeers()) app.bus.publish("ended", id);
    });
    startInvalidations(app);
    serveQueries(app);
    app.settings = await openSettings(app);
    await parts.start("settings", app.settings);
    parts.add("background", () => awaitBackground(app));
    if (leaked !== undefined) await alertExposedKey(app, leaked);
    await requireInstanceKey(app).catch((cause) => {
      if (role === "worker") throw cause;
      log.error(
        { error: String(cause) },
        "no stored secret can be read: this server has another instance key",
      );
    });

    app.runner = createRunner(createRunnerOptions(app));
    await parts.start("token use", createTokenUseFlusher(app));
    await parts.start("usage", createUsageFlusher(app));

    await restoreUnfinished(app);
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
      clock.onSetBack((by_ms) => recoverFromClockSetBack(app, by_ms));
      await setInstanceWebhook(app, app.settings.get("instance_events_webhook"));
    }
    await startLoops(app, parts, role);
  } catch (cause) {
    await parts.stop().catch(() => {});
    throw cause;
  }

  const hooks: OperationPolicies = {
    resolveToken,
    resolveMember,
    checkScopes: requireScope,
    recordAudit,
  };
  const network = mountOnFirstCall(() =>
    mountOperations(app, hooks, operations, {
      fallback: (request, pathname) => serveConsole(app, request, pathname),
    }),
  );
  const local = mountOnFirstCall(() =>
    mountOperations(app, hooks, operations, {
      identify: (request) => identifyLocalCaller(app, request),
    }),
  );
  return {
    app,
    fetch: network,
    fetchAsLocalAdmin: local,
    setupPath: () => createSetupLink(app),
    setListenUrls(url, internal = url) {
      app.urls = createUrls(app, url, internal);
    },
    onDrained(then) {
      drained = then;
    },
    stop() {
      app.isStopping = true;
      app.acceptsJobs = false;
      return parts.stop();
    },
  };
}

/** Delays the mounting, which takes as long as the start of the runtime: a command calls one mount, most servers the other. */
function mountOnFirstCall(mount: () => MountedServer): MountedServer["fetch"] {
  let handle: MountedServer["fetch"] | undefined;
  return (request) => {
    handle ??= mount().fetch;
    return handle(request);
  };
}
