import { Option } from "commander";
import {
  createWebhook,
  deleteWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from "../../../src/features/signals/webhooks/api/operations.ts";
import { EVENT_TYPES, type EventType } from "../../../src/features/signals/webhooks/event-types.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { usageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";

const collect = (value: string, before: string[] = []) => [...before, value];

const typeOption = () =>
  new Option("--type <type>", "an event type that is sent, such as CreateScript; may be repeated")
    .choices([...EVENT_TYPES])
    .argParser((value: string, before: string[] | undefined) => {
      if ((EVENT_TYPES as readonly string[]).includes(value)) return collect(value, before);
      throw usageError(`--type ${value} is no event type`, `use one of ${EVENT_TYPES.join(", ")}`);
    });

interface Described {
  type?: EventType[];
  description?: string;
}

const create = createWorkspaceCommand("create", "send events to an address; prints the signing secret")
  .argument("<url>", "where events are posted to")
  .addOption(typeOption())
  .option("--description <text>", "what it is for")
  .addHelpText(
    "after",
    formatExamples(
      "svc webhook create https://hooks.example.org/svc --workspace acme",
      "svc webhook create https://hooks.example.org/svc \\\n      --type CreateScript --type UpdateScript",
    ),
  )
  .action(async (url: string, options: WorkspaceOptions & Described) => {
    const { type: types, description } = options;
    const made = await withClient(options, async (client) =>
      client.call(createWebhook, {
        workspace: await resolveWorkspace(client, options.workspace),
        body: { url, types, description },
      }),
    );
    if (options.json) return printJson(made);
    printNote(`endpoint ${made.id}; its secret, shown only now:`);
    print(made.secret);
  });

const list = createWorkspaceCommand("list", "list the addresses that receive events")
  .addHelpText("after", formatExamples("svc webhook list --workspace acme"))
  .action(async (options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(listWebhooks, { workspace: await resolveWorkspace(client, options.workspace) }),
    );
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "ID", value: (row) => row.id, cut: "never" },
      { title: "URL", value: (row) => row.url },
      { title: "TYPES", value: (row) => row.types?.join(" ") ?? "all" },
      { title: "STATE", value: stateOf },
    ]);
  });

function stateOf({ enabled, failing_since }: { enabled: boolean; failing_since: unknown }): string {
  if (!enabled) return "off";
  return failing_since === null ? "on" : `failing since ${failing_since}`;
}

const update = createWorkspaceCommand("update", "change an endpoint, or switch it off and on")
  .argument("<id>", "as `svc webhook list` prints it")
  .option("--to <url>", "where events are posted to from now on")
  .addOption(typeOption())
  .option("--all-types", "every type is sent")
  .option("--description <text>", "what it is for")
  .option("--on", "events are sent")
  .option("--off", "nothing is sent, and nothing kept for it")
  .addHelpText("after", formatExamples("svc webhook update 01a1… --off --workspace acme"))
  .action(
    async (
      id: string,
      options: WorkspaceOptions &
        Described & { to?: string; allTypes?: boolean; on?: boolean; off?: boolean },
    ) => {
      const { to: url, description, on, off, allTypes } = options;
      if (on && off) throw usageError("--on and --off are both given", "use one of them");
      if (allTypes && options.type)
        throw usageError("--type and --all-types are both given", "use one of them");
      const types = allTypes ? null : options.type;
      if ([url, description, on, off, types].every((change) => change === undefined)) {
        throw usageError("nothing is to be changed", "say what, such as --off; svc webhook update --help");
      }
      const said = await withClient(options, async (client) =>
        client.call(updateWebhook, {
          workspace: await resolveWorkspace(client, options.workspace),
          id,
          body: { url, description, types, enabled: on ? true : off ? false : undefined },
        }),
      );
      printNote(said);
    },
  );

const remove = createWorkspaceCommand("delete", "remove an endpoint and its delivery history")
  .argument("<id>", "as `svc webhook list` prints it")
  .addHelpText("after", formatExamples("svc webhook delete 01a1… --workspace acme"))
  .action(async (id: string, options: WorkspaceOptions) => {
    const said = await withClient(options, async (client) =>
      client.call(deleteWebhook, { workspace: await resolveWorkspace(client, options.workspace), id }),
    );
    printNote(said);
  });

const rotate = createWorkspaceCommand(
  "rotate-secret",
  "create a new secret; the old one also signs for a day",
)
  .argument("<id>", "as `svc webhook list` prints it")
  .addHelpText("after", formatExamples("svc webhook rotate-secret 01a1… --workspace acme"))
  .action(async (id: string, options: WorkspaceOptions) => {
    const made = await withClient(options, async (client) =>
      client.call(rotateWebhookSecret, { workspace: await resolveWorkspace(client, options.workspace), id }),
    );
    if (options.json) printJson(made);
    else print(made.secret);
  });

const deliveries = createWorkspaceCommand("deliveries", "list what was sent to an endpoint, newest first")
  .argument("<id>", "as `svc webhook list` prints it")
  .addOption(
    new Option("--state <state>", "only those in this state").choices(["pending", "delivered", "failed"]),
  )
  .option("--limit <n>", "most deliveries that are shown", "30")
  .addHelpText("after", formatExamples("svc webhook deliveries 01a1… --state failed --workspace acme"))
  .action(
    async (
      id: string,
      options: WorkspaceOptions & { state?: "pending" | "delivered" | "failed"; limit: string },
    ) => {
      const found = await withClient(options, async (client) =>
        client.call(listWebhookDeliveries, {
          workspace: await resolveWorkspace(client, options.workspace),
          id,
          query: { state: options.state, per_page: options.limit },
        }),
      );
      if (options.json) return printJson(found);
      await printTable(found, [
        { title: "EVENT", value: (row) => String(row.event_seq), cut: "never" },
        { title: "TYPE", value: (row) => row.type },
        { title: "STATE", value: (row) => row.state },
        { title: "TRIES", value: (row) => String(row.attempts) },
        { title: "LAST", value: (row) => row.error ?? String(row.status ?? "") },
        { title: "STORED", value: (row) => String(row.created_at) },
      ]);
    },
  );

const redeliver = createWorkspaceCommand("redeliver", "send an event again, or all that failed for good")
  .argument("<id>", "as `svc webhook list` prints it")
  .argument("[event]", "number of the event, as `svc webhook deliveries` prints it")
  .addHelpText(
    "after",
    formatExamples(
      "svc webhook redeliver 01a1… --workspace acme",
      "svc webhook redeliver 01a1… 42 --workspace acme",
    ),
  )
  .action(async (id: string, event: string | undefined, options: WorkspaceOptions) => {
    if (event !== undefined && !/^\d+$/.test(event)) {
      throw usageError(`${event} is no number of an event`, "`svc webhook deliveries` prints them");
    }
    const again = await withClient(options, async (client) =>
      client.call(redeliverWebhook, {
        workspace: await resolveWorkspace(client, options.workspace),
        id,
        body: { event_seq: event === undefined ? undefined : Number(event) },
      }),
    );
    if (options.json) printJson(again);
    else printNote(`${again.count} sent again`);
  });

export default createNoun(
  "webhook",
  "tell other services about changes in a workspace",
  create,
  list,
  update,
  remove,
  rotate,
  deliveries,
  redeliver,
).addHelpText(
  "after",
  formatExamples("svc webhook create https://hooks.example.org/svc", "svc webhook list"),
);
