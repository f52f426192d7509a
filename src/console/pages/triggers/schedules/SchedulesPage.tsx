import { Button, Switch } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useMayWrite } from "../../../api/item-rights.ts";
import { usePolling } from "../../../api/live.ts";
import { useMay } from "../../../api/session.ts";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { ItemName } from "../../../parts/items/ItemName.tsx";
import { OnlyFirst } from "../../../parts/items/OnlyFirst.tsx";
import { useSearch } from "../../../parts/items/Search.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { describeCron } from "../../../parts/triggers/cron.ts";
import { Outcomes } from "./Outcomes.tsx";
import { MAX_SCHEDULES, schedulesQuery, useToggleSchedule } from "./queries.ts";

export default function SchedulesPage() {
  const workspace = useWorkspace();
  const list = useQuery({ ...schedulesQuery(workspace), ...usePolling(10_000) });
  const may = useMay(workspace)("POST /w/{workspace}/schedules/create", "author");
  const mayWrite = useMayWrite(workspace);
  const change = useToggleSchedule(workspace);
  const [rows, field] = useSearch(
    "schedules",
    "Search by name, path or script",
    list.data ?? [],
    ({ path, summary, script_path }) => `${path} ${summary ?? ""} ${script_path}`,
  );
  const create = may && (
    <Button component={Link} href={linkTo.newSchedule(workspace)} leftSection={<IconPlus size={16} />}>
      New schedule
    </Button>
  );
  return (
    <div className="page">
      <PageHead title="Schedules" about="Scripts and flows that run at set times.">
        {(list.data?.length ?? 0) > 0 && create}
      </PageHead>
      {list.error && !list.data ? (
        <Problem error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Loading />
      ) : list.data.length === 0 ? (
        <Empty
          title="No schedules yet"
          action={create}
          command={may && "svc schedule create u/you/nightly '0 0 7 * * *' --run u/you/report"}
        >
          A schedule runs a script or flow at the times of a cron expression, such as every weekday at nine,
          in a time zone of your choice. Every run is recorded, and a failed run can start a script of yours.
        </Empty>
      ) : (
        <>
          {field}
          {rows.length === 0 ? (
            <Empty title="Nothing matches">Change the search.</Empty>
          ) : (
            <DataTable
              label="Schedules"
              rows={rows}
              keyOf={({ path }) => path}
              columns={[
                {
                  name: "Schedule",
                  width: "minmax(0, 1.2fr)",
                  cell: ({ path, summary }) => (
                    <ItemName href={linkTo.schedule(workspace, path)} path={path} summary={summary} />
                  ),
                },
                {
                  name: "When",
                  width: "minmax(0, 1fr)",
                  cell: ({ schedule }) => (
                    <div className="clip" title={`${describeCron(schedule) ?? ""} ${schedule}`.trim()}>
                      {describeCron(schedule) ?? schedule}
                    </div>
                  ),
                },
                {
                  name: "Runs",
                  width: "minmax(0, 1fr)",
                  wideOnly: true,
                  cell: ({ script_path }) => <div className="clip mono quiet">{script_path}</div>,
                },
                {
                  name: "Next",
                  width: "7rem",
                  cell: ({ enabled, next_at }) =>
                    enabled && next_at ? <Moment at={next_at} /> : <span className="quiet">paused</span>,
                },
                {
                  name: "Last outcomes",
                  width: "7.5rem",
                  cell: ({ jobs }) => <Outcomes workspace={workspace} jobs={jobs} />,
                },
                {
                  name: "On",
                  width: "3rem",
                  cell: ({ path, enabled, extra_perms }) => (
                    <Switch
                      size="xs"
                      aria-label={`Schedule ${path} is on`}
                      checked={enabled}
                      disabled={!mayWrite(path, extra_perms) || change.isPending}
                      onChange={(event) => change.mutate({ path, enabled: event.currentTarget.checked })}
                    />
                  ),
                },
              ]}
            />
          )}
          <OnlyFirst max={MAX_SCHEDULES} count={list.data.length} />
        </>
      )}
    </div>
  );
}
