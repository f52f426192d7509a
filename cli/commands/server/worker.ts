import chalk, { chalkStderr } from "chalk";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { examples, leaf } from "../../program/command.ts";
import { usageError } from "../../terminal/text/failure.ts";
import { note, print, printJson } from "../../terminal/text/output.ts";
import { heedSignals, outliveMishaps } from "./serve.ts";

interface WorkerOptions {
  dataDir?: string;
  tags?: string;
  group?: string;
  json?: boolean;
}

export default leaf("worker", "run jobs of the servers that share a PostgreSQL", "directory")
  .option("--tags <list>", "run only jobs with these tags, comma separated (env SVC_WORKER_TAGS)")
  .option("--group <name>", "group of workers it belongs to (env SVC_WORKER_GROUP)")
  .addHelpText(
    "after",
    examples(
      "svc worker --data-dir /var/lib/svc-worker",
      "DATABASE_URL=postgres://… SVC_SECRET_KEY=… svc worker --tags gpu",
    ),
  )
  .action(async (options: WorkerOptions) => {
    refuseEmpty(options);
    const config = loadConfig({
      data_dir: options.dataDir,
      host: "127.0.0.1",
      port: 0,
      worker_tags: options.tags,
      worker_group: options.group,
    });
    if (config.database_url === undefined) {
      throw usageError(
        "a worker shares a PostgreSQL with servers, and there is none",
        "set DATABASE_URL; the embedded database belongs to one process, whose svc serve runs jobs itself",
      );
    }
    const { startServer } = await import("../../../src/server/server.ts");
    const toldToStop = heedSignals();
    const server = await startServer(config, "worker");
    outliveMishaps(server);
    const { app } = server;
    const { takenTags } = await import("../../../src/platform/cluster/group-tags.ts");
    const tags = takenTags(app);
    if (options.json) printJson({ worker: app.queue.worker, tags: tags ?? null, pid: process.pid });
    else {
      print(
        `worker ${chalk.bold(app.queue.worker)} takes ${tags ? `jobs tagged ${tags.join(", ")}` : "all jobs"}`,
      );
      note(chalkStderr.dim(`${config.workers} at once, files in ${config.data_dir}`));
    }
    await toldToStop(() => server.stop());
  });

/** What is left empty by a variable that is not set would otherwise mean every job. */
function refuseEmpty({ tags, group }: WorkerOptions): void {
  if (tags !== undefined && !tags.split(",").some((tag) => tag.trim() !== "")) {
    throw usageError("--tags names no tag", "give tags such as gpu,large, or leave it out to run all jobs");
  }
  if (group !== undefined && group.trim() === "") {
    throw usageError("--group names no group", "give a name such as runners, or leave it out");
  }
}
