import { Anchor, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { callOperation } from "../../api/call.ts";
import { Loading } from "../elements/Loading.tsx";
import { getErrorMessage, Problem } from "../elements/Problem.tsx";
import { linkTo } from "../navigation/places.ts";
import { readAll } from "./lists.ts";

/** Finds a path as a whole word: `u/ann/key` is not in `u/ann/key_2`. */
function holds(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const around = (text[at - 1] ?? " ") + (text[at + path.length] ?? " ");
    if (!/[\w/-]/.test(around.replace(/^:/, " "))) return true;
  }
  return false;
}

interface Source {
  /** Display name of one item. */
  name: string;
  page: (workspace: string, path: string) => string;
  /** Lists the items with what may mention a path. */
  list: (workspace: string, signal: AbortSignal) => Promise<{ path: string; within: unknown }[]>;
}

const SOURCES: Source[] = [
  {
    name: "script",
    page: linkTo.script,
    list: async (workspace, signal) =>
      (await callOperation("GET /w/{workspace}/scripts/list_search", { workspace }, signal)).map(
        ({ path, content }) => ({ path, within: content }),
      ),
  },
  {
    name: "flow",
    page: linkTo.flow,
    list: async (workspace, signal) =>
      (await callOperation("GET /w/{workspace}/flows/list_search", { workspace }, signal)).map(
        ({ path, value }) => ({
          path,
          within: value,
        }),
      ),
  },
  {
    name: "app",
    page: linkTo.app,
    list: async (workspace, signal) =>
      (await callOperation("GET /w/{workspace}/apps/list_search", { workspace }, signal)).map(
        ({ path, value }) => ({
          path,
          within: value,
        }),
      ),
  },
  {
    name: "resource",
    page: linkTo.resource,
    list: async (workspace, signal) =>
      (await callOperation("GET /w/{workspace}/resources/list_search", { workspace }, signal)).map(
        ({ path, value }) => ({ path, within: value }),
      ),
  },
  {
    name: "schedule",
    page: linkTo.schedule,
    list: async (workspace, signal) =>
      (
        await readAll((query) =>
          callOperation("GET /w/{workspace}/schedules/list", { workspace, query }, signal),
        )
      ).map(({ path, args, on_failure_extra_args, on_recovery_extra_args, on_success_extra_args }) => ({
        path,
        within: [args, on_failure_extra_args, on_recovery_extra_args, on_success_extra_args],
      })),
  },
  {
    name: "HTTP route",
    page: linkTo.route,
    list: async (workspace, signal) =>
      (
        await readAll((query) =>
          callOperation("GET /w/{workspace}/http_triggers/list", { workspace, query }, signal),
        )
      ).map(({ path, authentication_resource_path, signature }) => ({
        path,
        within: [authentication_resource_path, signature?.secret],
      })),
  },
  {
    name: "WebSocket trigger",
    page: linkTo.socket,
    list: async (workspace, signal) =>
      (
        await readAll((query) =>
          callOperation("GET /w/{workspace}/websocket_triggers/list", { workspace, query }, signal),
        )
      ).map(({ path, url_runnable_args, initial_messages }) => ({
        path,
        within: [url_runnable_args, initial_messages],
      })),
  },
];

interface Use {
  source: Source;
  path: string;
}

interface Uses {
  found: Use[];
  /** Why some lists could not be read. */
  failed: Error[];
}

/** Finds the items that mention a path, in all lists that can be read. */
async function findUses(workspace: string, path: string, signal: AbortSignal): Promise<Uses> {
  const found: Use[] = [];
  const failed: Error[] = [];
  const lists = await Promise.allSettled(SOURCES.map(({ list }) => list(workspace, signal)));
  signal.throwIfAborted();
  for (const [index, source] of SOURCES.entries()) {
    const list = lists[index]!;
    if (list.status === "rejected") {
      failed.push(new Error(`No ${source.name} could be searched: ${getErrorMessage(list.reason)}`));
      continue;
    }
    for (const { path: user, within } of list.value) {
      const text = typeof within === "string" ? within : (JSON.stringify(within) ?? "");
      // A resource does not use itself.
      if (holds(text, path) && !(source.page === linkTo.resource && user === path))
        found.push({ source, path: user });
    }
  }
  return { found, failed };
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
  const { data, error, refetch } = useQuery({
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
      ) : (
        <Stack gap="xs">
          {data.failed.map((each) => (
            <Problem key={each.message} error={each} retry={() => void refetch()} />
          ))}
          {data.found.map(({ source, path }) => (
            <Text key={`${source.name} ${path}`} className="wrap">
              {source.name}{" "}
              <Anchor component={Link} href={source.page(workspace, path)} fz="sm">
                {path}
              </Anchor>
            </Text>
          ))}
          {data.found.length + data.failed.length === 0 && (
            <Text>Nothing that you can see refers to it. It may still be used at run time.</Text>
          )}
        </Stack>
      )}
    </Modal>
  );
}
