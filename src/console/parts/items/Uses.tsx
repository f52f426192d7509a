import { Anchor, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { call } from "../../api/call.ts";
import { Loading } from "../Loading.tsx";
import { Problem } from "../Problem.tsx";
import { to } from "../places.ts";

/** Display name and page of each kind of item that can mention a path. */
const KINDS = {
  script: ["script", to.script],
  flow: ["flow", to.flow],
  app: ["app", to.app],
  resource: ["resource", to.resource],
  schedule: ["schedule", to.schedule],
  route: ["HTTP route", to.route],
  socket: ["WebSocket trigger", to.socket],
} as const;

interface Use {
  kind: keyof typeof KINDS;
  path: string;
}

const MAX_TRIGGERS = 1_000;

/** Finds a path as a whole word: `u/ann/key` is not in `u/ann/key_2`. */
function holds(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const around = (text[at - 1] ?? " ") + (text[at + path.length] ?? " ");
    if (!/[\w/-]/.test(around.replace(/^:/, " "))) return true;
  }
  return false;
}

async function findUses(workspace: string, path: string, signal: AbortSignal): Promise<Use[]> {
  const all = { workspace, query: { per_page: MAX_TRIGGERS } };
  const [scripts, flows, apps, resources, schedules, routes, sockets] = await Promise.all([
    call("GET /w/{workspace}/scripts/list_search", { workspace }, signal),
    call("GET /w/{workspace}/flows/list_search", { workspace }, signal),
    call("GET /w/{workspace}/apps/list_search", { workspace }, signal),
    call("GET /w/{workspace}/resources/list_search", { workspace }, signal),
    call("GET /w/{workspace}/schedules/list", all, signal),
    call("GET /w/{workspace}/http_triggers/list", all, signal),
    call("GET /w/{workspace}/websocket_triggers/list", all, signal),
  ]);
  const among = <T extends { path: string }>(kind: Use["kind"], items: T[], textOf: (item: T) => unknown) =>
    items
      .filter((item) => {
        const text = textOf(item);
        return holds(typeof text === "string" ? text : (JSON.stringify(text) ?? ""), path);
      })
      .map((item): Use => ({ kind, path: item.path }));
  return [
    ...among("script", scripts, ({ content }) => content),
    ...among("flow", flows, ({ value }) => value),
    ...among("app", apps, ({ value }) => value),
    ...among("resource", resources, ({ value }) => value).filter((use) => use.path !== path),
    ...among("schedule", schedules, (each) => [
      each.args,
      each.on_failure_extra_args,
      each.on_recovery_extra_args,
      each.on_success_extra_args,
    ]),
    ...among("route", routes, (each) => [each.authentication_resource_path, each.signature?.secret]),
    ...among("socket", sockets, (each) => [each.url_runnable_args, each.initial_messages]),
  ];
}

/** Dialog that lists the items that mention a path. */
export function Uses({
  workspace,
  path,
  close,
}: {
  workspace: string;
  path: string | undefined;
  close: () => void;
}) {
  const { data, error } = useQuery({
    queryKey: [workspace, "uses", path],
    queryFn: ({ signal }) => findUses(workspace, path!, signal),
    enabled: path !== undefined,
  });
  return (
    <Modal opened={path !== undefined} onClose={close} title={`Where ${path ?? ""} is used`}>
      {error ? (
        <Problem error={error} />
      ) : !data ? (
        <Loading rows={3} />
      ) : data.length === 0 ? (
        <Text>Nothing that you can see refers to it. It may still be used at run time.</Text>
      ) : (
        <Stack gap="xs">
          {data.map(({ kind, path }) => (
            <Text key={`${kind} ${path}`} className="wrap">
              {KINDS[kind][0]}{" "}
              <Anchor component={Link} href={KINDS[kind][1](workspace, path)} fz="sm">
                {path}
              </Anchor>
            </Text>
          ))}
        </Stack>
      )}
    </Modal>
  );
}
