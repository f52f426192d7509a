import { Button, Checkbox, Stack, Text } from "@mantine/core";
import { useCallback, useMemo, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { Empty } from "../../parts/elements/Empty.tsx";
import { Loading } from "../../parts/elements/Loading.tsx";
import { PageHead } from "../../parts/elements/PageHead.tsx";
import { Problem } from "../../parts/elements/Problem.tsx";
import { formatExactTime } from "../../parts/elements/time.tsx";
import { linkTo, useWorkspace } from "../../parts/navigation/places.ts";
import { FilterBar } from "./FilterBar.tsx";
import { type Filters, parseFilters, serializeFilters } from "./filters.ts";
import { QueueDepth } from "./QueueDepth.tsx";
import { RunRow } from "./RunRow.tsx";
import { Selection } from "./Selection.tsx";
import { Strip } from "./Strip.tsx";
import { useRuns } from "./use-runs.ts";

export default function RunsPage() {
  const workspace = useWorkspace();
  const [search, setSearch] = useSearchParams();
  const [, go] = useLocation();
  const filters = useMemo(() => parseFilters(search), [search]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { first, rows, next, reached, more, loading } = useRuns(workspace, filters, chosen.size > 0);
  const change = (next: Partial<Filters>, push: boolean) =>
    setSearch(serializeFilters({ ...filters, ...next }), { replace: !push });
  const choose = useCallback((id: string, isChosen: boolean) => {
    setChosen((before) => {
      const next = new Set(before);
      if (isChosen) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  const none = () => setChosen(new Set());
  const selected = rows.filter(({ id }) => chosen.has(id));
  const isFiltered = serializeFilters(filters).size > 0;
  return (
    <div className="page">
      <PageHead title="Runs" about="All runs of this workspace, the newest first." />
      <QueueDepth
        workspace={workspace}
        choose={(tag, status) => change({ tag, status, kind: "everything" }, true)}
      />
      <FilterBar filters={filters} change={change} />
      {first.error && <Problem error={first.error} retry={() => void first.refetch()} />}
      {first.isPending || (first.isPlaceholderData && rows.length === 0) ? (
        <Loading rows={10} />
      ) : rows.length > 0 ? (
        <>
          <Strip
            runs={rows}
            choose={(after, before) => change({ after, before }, true)}
            open={(id) => go(linkTo.run(workspace, id))}
          />
          <div className="rows" role="table" aria-label="Runs" aria-busy={first.isPlaceholderData}>
            <div role="rowgroup">
              <div className="row row-head run-row" role="row">
                <div role="columnheader">
                  <Checkbox
                    size="xs"
                    aria-label="Select all shown runs"
                    checked={selected.length === rows.length}
                    indeterminate={selected.length > 0 && selected.length < rows.length}
                    onChange={(event) =>
                      setChosen(new Set(event.currentTarget.checked ? rows.map(({ id }) => id) : []))
                    }
                  />
                </div>
                <div role="columnheader">Status</div>
                <div role="columnheader">Script or flow</div>
                <div role="columnheader">Started by</div>
                <div role="columnheader">Queued</div>
                <div role="columnheader">Duration</div>
              </div>
            </div>
            <div role="rowgroup">
              {rows.map((job) => (
                <RunRow
                  key={job.id}
                  workspace={workspace}
                  job={job}
                  chosen={chosen.has(job.id)}
                  choose={choose}
                />
              ))}
            </div>
          </div>
          {next && <Further reached={reached} loading={loading} more={more} />}
          <Selection workspace={workspace} chosen={selected} clear={none} />
        </>
      ) : first.error ? null : next ? (
        <Empty
          title="No matching run found yet"
          action={
            <Button variant="default" loading={loading} onClick={() => void more()}>
              Search earlier runs
            </Button>
          }
        >
          {reached ? searchedUntil(reached) : "Earlier runs may match."}
        </Empty>
      ) : isFiltered ? (
        <Empty
          title="No run matches"
          action={
            <Button variant="default" onClick={() => setSearch({})}>
              Clear the filters
            </Button>
          }
        >
          No stored run matches all filters.
        </Empty>
      ) : (
        <Empty
          title="No runs yet"
          action={
            <Button component={Link} href={linkTo.home(workspace)}>
              Choose what to run
            </Button>
          }
          command="svc run u/you/hello"
        >
          Every run of a script or flow is listed here, with its arguments, log and result.
        </Empty>
      )}
    </div>
  );
}

const searchedUntil = (reached: string) =>
  `Only runs queued after ${formatExactTime(reached)} were searched so far.`;

interface FurtherProps {
  reached: string | undefined;
  loading: boolean;
  more: () => Promise<void>;
}

/** Button that loads earlier runs. For a search that reached its time limit it shows how far the search came. */
function Further({ reached, loading, more }: FurtherProps) {
  return (
    <Stack align="center" gap="xs" mt="md">
      {reached && (
        <Text c="dimmed" role="status">
          {searchedUntil(reached)}
        </Text>
      )}
      <Button variant="default" loading={loading} onClick={() => void more()}>
        {reached ? "Search earlier runs" : "Show earlier runs"}
      </Button>
    </Stack>
  );
}
