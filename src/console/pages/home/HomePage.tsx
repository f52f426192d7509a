import { Button, SegmentedControl, Select, TextInput, Title } from "@mantine/core";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { usePolling } from "../../api/live.ts";
import { useMay } from "../../api/session.ts";
import { Empty } from "../../parts/elements/Empty.tsx";
import { Loading } from "../../parts/elements/Loading.tsx";
import { PageHead } from "../../parts/elements/PageHead.tsx";
import { Problem } from "../../parts/elements/Problem.tsx";
import { appsQuery, flowsWithDraftsQuery, scriptsWithDraftsQuery } from "../../parts/items/lists.ts";
import { linkTo, useWorkspace } from "../../parts/navigation/places.ts";
import { FirstScript } from "./FirstScript.tsx";
import { ItemRow } from "./ItemRow.tsx";
import { type Choice, groupByFolder, listDeployedRunnables, listFolders, mergeItems } from "./items.ts";
import { latestRunsQuery, useToggleFavorite } from "./queries.ts";

const KINDS = [
  { value: "all", label: "All" },
  { value: "starred", label: "Favourites" },
  { value: "script", label: "Scripts" },
  { value: "flow", label: "Flows" },
  { value: "app", label: "Apps" },
];

export default function HomePage() {
  const workspace = useWorkspace();
  const mayWrite = useMay(workspace)("POST /w/{workspace}/scripts/create", "author");
  const [search, setSearch] = useSearchParams();
  const text = search.get("q") ?? "";
  const kind = (KINDS.find(({ value }) => value === search.get("kind"))?.value ?? "all") as Choice["kind"];
  const scripts = useQuery(scriptsWithDraftsQuery(workspace));
  const flows = useQuery(flowsWithDraftsQuery(workspace));
  const apps = useQuery(appsQuery(workspace));
  const runnables = useMemo(
    () => listDeployedRunnables(scripts.data, flows.data),
    [scripts.data, flows.data],
  );
  const latest = useMemo(() => latestRunsQuery(workspace, runnables), [workspace, runnables]);
  const runs = useQuery({ ...latest, ...usePolling(15_000) }).data;
  const star = useToggleFavorite(workspace);
  const items = useMemo(
    () => mergeItems(scripts.data ?? [], flows.data ?? [], apps.data ?? [], runs ?? []),
    [scripts.data, flows.data, apps.data, runs],
  );
  const wanted = useDeferredValue(text);
  const owners = useMemo(() => listFolders(items), [items]);
  const folder = owners.find((each) => each === search.get("folder")) ?? "";
  const folders = useMemo(
    () => groupByFolder(items, { text: wanted, kind, folder }),
    [items, wanted, kind, folder],
  );
  const set = (name: string, value: string, push: boolean) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === "" || value === "all") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: !push },
    );
  const failed = [scripts, flows, apps].find(({ error, data }) => error && !data);
  const pending = scripts.isPending || flows.isPending || apps.isPending;
  const isNew = !pending && !failed && items.length === 0;
  return (
    <div className="page">
      <PageHead title="Home">
        {mayWrite && (
          <Button
            variant="default"
            component={Link}
            href={linkTo.newFlow(workspace)}
            leftSection={<IconPlus size={16} />}
          >
            New flow
          </Button>
        )}
        {mayWrite && (
          <Button
            variant={isNew ? "default" : "filled"}
            component={Link}
            href={linkTo.newScript(workspace)}
            leftSection={<IconPlus size={16} />}
          >
            New script
          </Button>
        )}
      </PageHead>
      {!isNew && (
        <div style={{ display: "flex", flexWrap: "wrap", gap: "0.75rem" }}>
          <TextInput
            data-search
            aria-label="Search scripts, flows and apps"
            placeholder="Search by name, path or language"
            leftSection={<IconSearch size={16} aria-hidden />}
            value={text}
            onChange={(event) => set("q", event.currentTarget.value, false)}
            style={{ flex: "1 1 16rem" }}
          />
          {owners.length > 1 && (
            <Select
              aria-label="Folder"
              placeholder="All folders"
              searchable
              clearable
              clearButtonProps={{ "aria-label": "All folders" }}
              nothingFoundMessage="No folder has this name"
              data={owners}
              value={folder || null}
              onChange={(value) => set("folder", value ?? "", true)}
              w={190}
            />
          )}
          <div style={{ maxWidth: "100%", overflowX: "auto" }}>
            <SegmentedControl
              aria-label="Kind"
              value={kind}
              onChange={(value) => set("kind", value, true)}
              data={KINDS}
            />
          </div>
        </div>
      )}
      {failed ? (
        <div style={{ marginTop: "1.5rem" }}>
          <Problem error={failed.error} retry={() => void failed.refetch()} />
        </div>
      ) : pending ? (
        <div style={{ marginTop: "1.5rem" }}>
          <Loading />
        </div>
      ) : isNew ? (
        <FirstScript workspace={workspace} />
      ) : folders.length === 0 ? (
        <Empty
          title="Nothing matches"
          action={
            <Button variant="default" onClick={() => setSearch({})}>
              Show everything
            </Button>
          }
        >
          Change the search, or choose another folder or kind.
        </Empty>
      ) : (
        folders.map(([folder, list]) => (
          <section key={folder} aria-label={folder}>
            <div className="folder">
              <Title order={2}>{folder}</Title>
              <span className="quiet">{list.length}</span>
            </div>
            <div className="rows">
              {list.map((item) => (
                <ItemRow
                  key={`${item.kind} ${item.path}`}
                  workspace={workspace}
                  item={item}
                  star={star.mutate}
                />
              ))}
            </div>
          </section>
        ))
      )}
    </div>
  );
}
