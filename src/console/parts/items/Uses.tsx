import { Anchor, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { call } from "../../api/call.ts";
import { Loading } from "../Loading.tsx";
import { Problem } from "../Problem.tsx";
import { to } from "../places.ts";

interface Use {
  kind: "script" | "flow" | "resource";
  path: string;
}

/** Finds a path as a whole word: `u/ann/key` is not in `u/ann/key_2`. */
function holds(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const around = (text[at - 1] ?? " ") + (text[at + path.length] ?? " ");
    if (!/[\w/-]/.test(around.replace(/^:/, " "))) return true;
  }
  return false;
}

async function findUses(workspace: string, path: string, signal: AbortSignal): Promise<Use[]> {
  const [scripts, flows, resources] = await Promise.all([
    call("GET /w/{workspace}/scripts/list_search", { workspace }, signal),
    call("GET /w/{workspace}/flows/list_search", { workspace }, signal),
    call("GET /w/{workspace}/resources/list_search", { workspace }, signal),
  ]);
  const among = (kind: Use["kind"], items: { path: string; text: string }[]) =>
    items.filter(({ text }) => holds(text, path)).map((item): Use => ({ kind, path: item.path }));
  const asJson = (items: { path: string; value: unknown }[]) =>
    items.map(({ path, value }) => ({ path, text: JSON.stringify(value) ?? "" }));
  return [
    ...among(
      "script",
      scripts.map(({ path, content }) => ({ path, text: content })),
    ),
    ...among("flow", asJson(flows)),
    ...among("resource", asJson(resources)).filter((use) => use.path !== path),
  ];
}

/** Dialog that lists the scripts, flows and resources that mention a path. */
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
        <Text>
          No script, flow or resource that you can see refers to it. It may still be used at run time.
        </Text>
      ) : (
        <Stack gap="xs">
          {data.map(({ kind, path }) => (
            <Text key={`${kind} ${path}`} className="wrap">
              {kind}{" "}
              {kind === "resource" ? (
                <Anchor component={Link} href={to.resource(workspace, path)} fz="sm">
                  {path}
                </Anchor>
              ) : (
                <Anchor
                  component={Link}
                  href={kind === "flow" ? to.flow(workspace, path) : to.script(workspace, path)}
                  fz="sm"
                >
                  {path}
                </Anchor>
              )}
            </Text>
          ))}
        </Stack>
      )}
    </Modal>
  );
}
