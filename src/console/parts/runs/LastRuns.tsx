import { Title } from "@mantine/core";
import { Link } from "wouter";
import type { Job } from "../../api/interface.d.ts";
import { DataTable } from "../elements/DataTable.tsx";
import { formatDuration, Moment } from "../elements/time.tsx";
import { linkTo } from "../navigation/places.ts";
import { State } from "./run-state.tsx";

/** The last runs started by a trigger. */
export function LastRuns({ workspace, runs }: { workspace: string; runs: Job[] }) {
  return (
    <>
      <Title order={2}>Last runs</Title>
      {runs.length === 0 ? (
        <p className="quiet">It has not run yet.</p>
      ) : (
        <DataTable
          label="Last runs"
          rows={runs}
          keyOf={({ id }) => id}
          columns={[
            { name: "Status", width: "9rem", cell: (job) => <State job={job} /> },
            {
              name: "When",
              width: "minmax(0, 1fr)",
              cell: (job) => (
                <Link href={linkTo.run(workspace, job.id)}>
                  <Moment at={job.started_at ?? job.scheduled_for ?? job.created_at} />
                </Link>
              ),
            },
            {
              name: "Took",
              width: "6rem",
              cell: ({ duration_ms }) => (duration_ms === undefined ? "" : formatDuration(duration_ms)),
            },
          ]}
        />
      )}
    </>
  );
}
