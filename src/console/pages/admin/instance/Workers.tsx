import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { usePolling } from "../../../api/live.ts";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { queueCountsQuery, workersQuery } from "./queries.ts";
import { formatSize } from "./size.ts";

export function Workers() {
  const workers = useQuery({ ...workersQuery, ...usePolling(5_000) });
  const queues = Object.entries(useQuery({ ...queueCountsQuery, ...usePolling(5_000) }).data ?? {});
  if (workers.error) return <Problem error={workers.error} retry={() => void workers.refetch()} />;
  if (!workers.data) return <Loading />;
  return (
    <>
      <div className="folder">
        <Title order={2}>Waiting runs</Title>
      </div>
      {queues.length === 0 ? (
        <Text c="dimmed">No run is waiting for a worker.</Text>
      ) : (
        <DataTable
          label="Waiting runs"
          rows={queues}
          keyOf={([tag]) => tag}
          columns={[
            { name: "Tag", width: "minmax(0, 1fr)", cell: ([tag]) => tag },
            { name: "Runs", width: "8rem", cell: ([, count]) => count.toLocaleString() },
          ]}
        />
      )}
      <div className="folder">
        <Title order={2}>Workers</Title>
        <span className="quiet">{workers.data.length}</span>
      </div>
      {workers.data.length === 0 ? (
        <Empty title="No worker is running" command="svc worker">
          Runs wait in the queue until a worker claims them. The server includes a worker, unless it was
          started without one.
        </Empty>
      ) : (
        <DataTable
          label="Workers"
          rows={workers.data}
          keyOf={({ worker }) => worker}
          columns={[
            {
              name: "Worker",
              width: "minmax(0, 1.5fr)",
              cell: ({ worker, worker_instance, worker_group }) => (
                <>
                  <div style={{ fontWeight: 500 }}>{worker}</div>
                  <div className="quiet">
                    group {worker_group}, on {worker_instance}
                  </div>
                </>
              ),
            },
            {
              name: "Tags",
              width: "minmax(0, 1fr)",
              wideOnly: true,
              cell: ({ custom_tags = [] }) => (
                <span className="quiet">{custom_tags.join(", ") || "the default tags"}</span>
              ),
            },
            {
              name: "Busy",
              width: "5rem",
              cell: ({ occupancy_rate }) => `${Math.round(occupancy_rate * 100)} %`,
            },
            {
              name: "Memory",
              width: "6rem",
              wideOnly: true,
              cell: ({ memory_usage }) => formatSize(memory_usage),
            },
            { name: "Runs", width: "6rem", cell: ({ jobs_executed }) => jobs_executed.toLocaleString() },
            { name: "Started", width: "8rem", cell: ({ started_at }) => <Moment at={started_at} /> },
          ]}
        />
      )}
    </>
  );
}
