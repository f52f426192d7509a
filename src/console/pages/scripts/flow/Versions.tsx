import { Button, Select, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { callOperation } from "../../../api/call.ts";
import { CodeDifference } from "../../../parts/editor/lazy.tsx";
import { useAction } from "../../../parts/elements/actions.tsx";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { formatExactTime, Moment } from "../../../parts/elements/time.tsx";
import { useUrlParameters } from "../../../parts/navigation/use-url-parameters.ts";
import { toDocument } from "../flow-editor/model/document.ts";
import { type Flow, flowHistoryQuery, flowVersionQuery } from "./queries.ts";
import { formatYaml } from "./yaml/text.ts";

interface Props {
  workspace: string;
  flow: Flow;
  mayWrite: boolean;
}

/** Versions of a flow, and the difference between two of them. */
export function Versions({ workspace, flow, mayWrite }: Props) {
  const { act, isPending } = useAction();
  const { get, set } = useUrlParameters();
  const history = useQuery(flowHistoryQuery(workspace, flow.path));
  const list = history.data ?? [];
  const numberOf = (name: string) => list.find(({ id }) => String(id) === get(name))?.id;
  const chosen = numberOf("after") ?? list[0]?.id;
  const earlier = numberOf("before") ?? list[list.findIndex(({ id }) => id === chosen) + 1]?.id;
  // Nothing precedes the first version: it is compared with the newest.
  const [before, after] =
    earlier === undefined && list.length > 1 ? [chosen, list[0]?.id] : [earlier, chosen];
  const older = useQuery(flowVersionQuery(workspace, flow.path, before));
  const newer = useQuery(flowVersionQuery(workspace, flow.path, after));
  if (history.error) return <Problem error={history.error} />;
  if (history.isPending) return <Loading />;
  const restore = (old: Flow) =>
    act(async () => {
      const body = {
        ...toDocument(flow),
        summary: old.summary,
        description: old.description ?? "",
        value: old.value,
        schema: old.schema as Record<string, unknown> | null,
        deployment_message: `Restore version ${old.version_id}`,
        parent_version: flow.version_id,
      };
      await callOperation("POST /w/{workspace}/flows/update/{path}", { workspace, path: flow.path, body });
      set({ before: "", after: "" });
      return `${flow.path} is as it was in version ${old.version_id}`;
    });
  const options = list.map(({ id, created_at }) => ({
    value: String(id),
    label: `${id}, ${formatExactTime(created_at)}`,
  }));
  const failed = older.error ?? newer.error;
  return (
    <div className="stack">
      <DataTable
        label="Versions"
        rows={list}
        keyOf={({ id }) => String(id)}
        columns={[
          { name: "Version", width: "7rem", cell: ({ id }) => <span className="mono">{id}</span> },
          { name: "Deployed", width: "10rem", cell: ({ created_at }) => <Moment at={created_at} /> },
          {
            name: "Message",
            width: "minmax(0, 1fr)",
            cell: ({ deployment_msg }) => deployment_msg || <span className="quiet">none</span>,
          },
        ]}
      />
      {before !== undefined && (
        <section className="panel" aria-label="Comparison">
          <div className="panel-head">
            <Title order={2}>What changed</Title>
            <Select
              size="xs"
              w={210}
              aria-label="From version"
              allowDeselect={false}
              data={options}
              value={String(before)}
              onChange={(value) => set({ before: value ?? "" })}
            />
            <Select
              size="xs"
              w={210}
              aria-label="To version"
              allowDeselect={false}
              data={options}
              value={String(after)}
              onChange={(value) => set({ after: value ?? "" })}
            />
            {mayWrite && older.data && before !== list[0]?.id && (
              <Button size="xs" variant="default" loading={isPending} onClick={() => restore(older.data)}>
                Go back to version {before}
              </Button>
            )}
          </div>
          {failed ? (
            <Problem error={failed} />
          ) : older.data && newer.data ? (
            <CodeDifference
              label="Differences"
              language="yaml"
              before={formatYaml(older.data)}
              after={formatYaml(newer.data)}
            />
          ) : (
            <Loading rows={3} />
          )}
        </section>
      )}
    </div>
  );
}
