/** Operations on worker groups and their configuration: which jobs each group takes. */
import { BadRequest } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import { WORKER_TAGS_KEY } from "../../../platform/cluster/group-tags.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { deleteGroupConfig, findGroupConfig, listGroupConfigs, storeGroupConfig } from "./worker-groups.ts";

/** Prefix of configuration names; the rest is the group's name. */
const CONFIG_PREFIX = "worker__";

const GroupConfig = z
  .looseObject({
    [WORKER_TAGS_KEY]: z.array(z.string().min(1)).nullish(),
  })
  .meta({ id: "WorkerGroupConfig" });

const Config = z.object({ name: z.string(), config: GroupConfig.optional() });

function parseGroupName(name: string): string {
  if (/^worker__[\w-]{1,50}$/.test(name)) return name.slice(CONFIG_PREFIX.length);
  throw new BadRequest(
    `"${name}" is not the name of a configuration: it must be ${CONFIG_PREFIX} followed by the name of a worker group`,
  );
}

const listWorkerGroups = operation({
  name: "listWorkerGroups",
  method: "GET",
  path: "/configs/list_worker_groups",
  access: "user",
  summary: "List the worker groups that have a configuration, with it",
  responds: responds.json(z.array(Config)),
  run: async ({ app, caller }) => {
    const { super_admin, devops } = caller.identity;
    const groups = await listGroupConfigs(app);
    return groups.map(({ name, config }) => (super_admin || devops ? { name, config } : { name }));
  },
});

const listConfigs = operation({
  name: "listConfigs",
  method: "GET",
  path: "/configs/list",
  access: "devops",
  summary: "List all configurations by their full names",
  responds: responds.json(z.array(Config)),
  run: async ({ app }) => {
    const groups = await listGroupConfigs(app);
    return groups.map(({ name, config }) => ({ name: CONFIG_PREFIX + name, config }));
  },
});

const getConfig = operation({
  name: "getConfig",
  method: "GET",
  path: "/configs/get/{name}",
  access: "devops",
  summary: "Read the configuration of a worker group; null without one",
  responds: responds.json(GroupConfig.nullable()),
  run: ({ app }, { name }) => findGroupConfig(app, parseGroupName(name)),
});

const updateConfig = operation({
  name: "updateConfig",
  method: "POST",
  path: "/configs/update/{name}",
  access: "superAdmin",
  audit: { operation: "worker_config.update", action_kind: "Update" },
  summary: "Set the configuration of a worker group; its workers apply it at once",
  body: GroupConfig,
  responds: responds.text("what was done"),
  run: async (ctx, { name, body }) => {
    await storeGroupConfig(ctx, parseGroupName(name), { resource: name, config: body });
    return `config ${name} updated`;
  },
});

const deleteConfig = operation({
  name: "deleteConfig",
  method: "DELETE",
  path: "/configs/update/{name}",
  access: "superAdmin",
  audit: { operation: "worker_config.delete", action_kind: "Delete" },
  summary: "Delete the configuration of a worker group: its workers then accept all jobs",
  responds: responds.text("what was done"),
  run: async (ctx, { name }) => {
    await deleteGroupConfig(ctx, parseGroupName(name), name);
    return `config ${name} deleted`;
  },
});

const listAutoscalingEvents = operation({
  name: "listAutoscalingEvents",
  method: "GET",
  path: "/configs/list_autoscaling_events/{name}",
  access: "user",
  summary: "List autoscaling events of a worker group: always empty",
  responds: responds.json(z.array(z.unknown()).max(0)),
  run: () => [],
});

export const workerGroupOperations: Operation[] = [
  listWorkerGroups,
  listConfigs,
  getConfig,
  updateConfig,
  deleteConfig,
  listAutoscalingEvents,
];
