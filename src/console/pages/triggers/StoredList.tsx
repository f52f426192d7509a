import { Badge } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { callOperation } from "../../api/call.ts";
import { useMay } from "../../api/session.ts";
import { DataTable } from "../../parts/elements/DataTable.tsx";
import { Empty } from "../../parts/elements/Empty.tsx";
import { Loading } from "../../parts/elements/Loading.tsx";
import { Problem } from "../../parts/elements/Problem.tsx";

/** Kinds that the server stores and does not run, by the API's names. */
const KINDS = {
  kafka: "Kafka",
  nats: "NATS",
  postgres: "PostgreSQL",
  mqtt: "MQTT",
  amqp: "AMQP",
  sqs: "SQS",
  gcp: "Google Pub/Sub",
  azure: "Azure Event Grid",
  email: "E-mail",
};

const storedQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "stored-triggers", "list"],
    queryFn: async ({ signal }) => {
      const lists = (Object.keys(KINDS) as (keyof typeof KINDS)[]).map(async (kind) => {
        const query = { per_page: 1_000 };
        const rows = await callOperation(
          `GET /w/{workspace}/${kind}_triggers/list`,
          { workspace, query },
          signal,
        );
        return rows.map((row) => ({ kind: KINDS[kind], ...row }));
      });
      return (await Promise.all(lists)).flat();
    },
  });

/** Triggers of kinds that are stored for other clients and not run. */
export function StoredList({ workspace }: { workspace: string }) {
  const list = useQuery(storedQuery(workspace));
  const may = useMay(workspace)("POST /w/{workspace}/kafka_triggers/create", "author");
  if (list.error && !list.data) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading />;
  if (list.data.length === 0) {
    return (
      <Empty title="No triggers of other kinds" command={may && "svc push"}>
        Triggers of Kafka, NATS, PostgreSQL, MQTT, AMQP, SQS, Google Pub/Sub, Azure and e-mail that a push
        brings along are stored and listed here. The server does not run them.
      </Empty>
    );
  }
  return (
    <DataTable
      label="Triggers of other kinds"
      rows={list.data}
      keyOf={({ kind, path }) => `${kind} ${path}`}
      columns={[
        {
          name: "Path",
          width: "minmax(0, 1.2fr)",
          cell: ({ path }) => <div className="clip mono">{path}</div>,
        },
        { name: "Kind", width: "10rem", cell: ({ kind }) => kind },
        {
          name: "Script or flow",
          width: "minmax(0, 1fr)",
          wideOnly: true,
          cell: ({ script_path }) => <div className="clip mono quiet">{script_path}</div>,
        },
        {
          name: "State",
          width: "8rem",
          cell: ({ enabled, error }) => (
            <Badge size="sm" variant="light" color={enabled ? "yellow" : "gray"} title={error ?? undefined}>
              {enabled ? "not run" : "off"}
            </Badge>
          ),
        },
      ]}
    />
  );
}
