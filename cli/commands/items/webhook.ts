import { Option } from "commander";
import { EVENT_TYPES, type EventType } from "../../../src/features/signals/webhooks/event-types.ts";
import {
  createWebhook,
  deleteWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from "../../client/operations/signals.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";

const collect = (value: string, before: string[] = []) => [...before, value];

const typeOption = () =>
  new Option("--type <type>", "an event type that is sent, such as CreateScript; may be repeated")
    .choices([...EVENT_TYPES])
    .argParser((value: string, before: string[] | undefined) => {
      if ((EVENT_TYPES as readonly string[]).includes(value)) return collect(value, before);
      throw createUsageError(`--type ${value} is not an event type`, `use one of ${EVENT_TYPES.join(", ")}`);
    });

interface Described {
  type?: EventType[];
  summary?: string;
}

const create = createWorkspaceCommand("create", "send events to an address; prints the signing secret")
  .argument("<url>", "where events are posted to")
  .addOption(typeOption())
  .option("--summary <text>", "what it is for")
  .addHelpText(
    "after",
    formatExamples(
      "svc webhook create https://hooks.example.org/svc --workspace acme",
      "svc webhook create https://hooks.example.org/svc \\\n      --type CreateScript --type UpdateScript",
    ),
  )
  .action(async (url: string, options: WorkspaceOptions & Described) => {
    const { type: types, summary: description } = options;
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
    await printTable(
      found,
      [
        { title: "ID", value: (row) => row.id, cut: "never" },
        { title: "URL", value: (row) => row.url },
        { title: "TYPES", value: (row) => row.types?.join(" ") ?? "all" },
        { title: "STATE", value: stateOf },
      ],
      "no endpoints; svc webhook create <url>",
    );
  });

function stateOf({ enabled, failing_since }: { enabled: boolean; failing_since: unknown }): string {
  if (!enabled) return "off";
  return failing_since === null ? "on" : `failing since ${failing_since}`;
}

const update = createWorkspaceCommand("update", "change an endpoint")
  .argument("<id>", "as `svc webhook list` prints it")
  .option("--to <url>", "where events are posted to from now on")
  .addOption(typeOption())
  .option("--all-types", "every type is sent")
  .option("--summary <text>", "what it is for")
  .addHelpText("after", formatExamples("svc webhook update 01a1… --all-types --workspace acme"))
  .action(async (id: string, options: WorkspaceOptions & Described & { to?: string; allTypes?: boolean }) => {
    const { to: url, summary: description, allTypes } = options;
    if (allTypes && options.type)
      throw createUsageError("--type and --all-types are both given", "use one of them");
    const types = allTypes ? null : options.type;
    if ([url, description, types].every((change) => change === undefined)) {
      throw createUsageError("no change is given", "say what, such as --to <url>; svc webhook update --help");
    }
    const said = await withClient(options, async (client) =>
      client.call(updateWebhook, {
        workspace: await resolveWorkspace(client, options.workspace),
        id,
        body: { url, description, types },
      }),
    );
    printNote(said);
  });

function createSwitchCommand(name: string, enabled: boolean) {
  const meaning = enabled
    ? "send events to an endpoint again"
    : "send nothing, and keep nothing, for an endpoint";
  return createWorkspaceCommand(name, meaning)
    .argument("<id>", "as `svc webhook list` prints it")
    .addHelpText("after", formatExamples(`svc webhook ${name} 01a1… --workspace acme`))
    .action(async (id: string, options: WorkspaceOptions) => {
      const said = await withClient(options, async (client) =>
        client.call(updateWebhook, {
          workspace: await resolveWorkspace(client, options.workspace),
          id,
          body: { enabled },
        }),
      );
      printNote(said);
    });
}

const show = createWorkspaceCommand("show", "show an endpoint")
  .argument("<id>", "as `svc webhook list` prints it")
  .addHelpText("after", formatExamples("svc webhook show 01a1… --workspace acme"))
  .action(async (id: string, options: WorkspaceOptions) => {
    const all = await withClient(options, async (client) =>
      client.call(listWebhooks, { workspace: await resolveWorkspace(client, options.workspace) }),
    );
    const found = all.find((row) => row.id === id);
    if (!found) throw new CliError("NotFound", `there is no endpoint ${id}`, { hint: "svc webhook list" });
    if (options.json) return printJson(found);
    const facts = [
      ["id", found.id],
      ["url", found.url],
      ["summary", found.description],
      ["types", found.types?.join(" ") ?? "all"],
      ["state", stateOf(found)],
      ["created by", found.created_by],
    ];
    for (const [name, value] of facts) print(`${name!.padEnd(12)}${value}`);
  });

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
    new Option("--status <state>", "only those in this state").choices(["pending", "delivered", "failed"]),
  )
  .option("--limit <n>", "maximum number of deliveries", "30")
  .addHelpText("after", formatExamples("svc webhook deliveries 01a1… --status failed --workspace acme"))
  .action(
    async (
      id: string,
      options: WorkspaceOptions & { status?: "pending" | "delivered" | "failed"; limit: string },
    ) => {
      const found = await withClient(options, async (client) =>
        client.call(listWebhookDeliveries, {
          workspace: await resolveWorkspace(client, options.workspace),
          id,
          query: { state: options.status, per_page: options.limit },
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
      throw createUsageError(`${event} is not a number of an event`, "`svc webhook deliveries` prints them");
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
  "send events about changes in a workspace to other services",
  create,
  list,
  show,
  update,
  createSwitchCommand("enable", true),
  createSwitchCommand("disable", false),
  remove,
  rotate,
  deliveries,
  redeliver,
).addHelpText(
  "after",
  formatExamples("svc webhook create https://hooks.example.org/svc", "svc webhook list"),
);
