import chalk from "chalk";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson } from "../../terminal/text/output.ts";
import { handleSignals, logUncaughtErrors } from "./serve.ts";

interface WorkerOptions {
  dataDir?: string;
  tags?: string;
  group?: string;
  json?: boolean;
}

export default createCommand("worker", "run jobs of the servers that share a PostgreSQL", "directory")
  .option("--tags <list>", "run only jobs with these tags, comma separated (env SVC_WORKER_TAGS)")
  .option("--group <name>", "group of workers it belongs to (env SVC_WORKER_GROUP)")
  .addHelpText(
    "after",
    formatExamples(
      "svc worker --data-dir /var/lib/svc-worker",
      "DATABASE_URL=postgres://… SVC_SECRET_KEY=… svc worker --tags gpu",
    ),
  )
  .action(async (options: WorkerOptions) => {
    requireTags(options);
    const config = loadConfig({
      data_dir: options.dataDir,
      host: "127.0.0.1",
      port: 0,
      worker_tags: options.tags,
      worker_group: options.group,
    });
    if (config.database_url === undefined) {
      throw createUsageError(
        "a worker shares a PostgreSQL with servers, and there is none",
        "set DATABASE_URL; the embedded database belongs to one process, whose svc serve runs jobs itself",
      );
    }
    const { startServer } = await import("../../../src/server/server.ts");
    const toldToStop = handleSignals();
    const server = await startServer(config, "worker");
    logUncaughtErrors(server);
    const { app } = server;
    const { getWorkerTags } = await import("../../../src/platform/cluster/group-tags.ts");
    const tags = getWorkerTags(app);
    if (options.json) printJson({ worker: app.queue.worker, tags: tags ?? null, pid: process.pid });
    else {
      print(
        `worker ${chalk.bold(app.queue.worker)} takes ${tags ? `jobs tagged ${tags.join(", ")}` : "all jobs"}`,
      );
      print(chalk.dim(`${config.workers} at once, files in ${config.data_dir}`));
    }
    await toldToStop(() => server.stop());
  });

/** Rejects an empty value, for example from an unset variable: it would mean all jobs. */
function requireTags({ tags, group }: WorkerOptions): void {
  if (tags !== undefined && !tags.split(",").some((tag) => tag.trim() !== "")) {
    throw createUsageError(
      "--tags names no tag",
      "give tags such as gpu,large, or leave it out to run all jobs",
    );
  }
  if (group !== undefined && group.trim() === "") {
    throw createUsageError("--group names no group", "give a name such as runners, or leave it out");
  }
}
