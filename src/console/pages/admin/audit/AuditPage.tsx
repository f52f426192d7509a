import { Anchor, Button, Center, Group, Select, TextInput } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Fragment, useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { callOperation, getOperationUrl } from "../../../api/call.ts";
import type { AuditLog } from "../../../api/interface.d.ts";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { formatExactTime } from "../../../parts/elements/time.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { type AuditFilters, parseAuditFilters, serializeAuditFilters, toAuditQuery } from "./filters.ts";

const PAGE_SIZE = 100;
const KINDS = [
  { value: "", label: "All kinds" },
  { value: "Create", label: "Created" },
  { value: "Update", label: "Changed" },
  { value: "Delete", label: "Deleted" },
  { value: "Execute", label: "Run" },
];

const columnsOf = (workspace: string): Column<AuditLog>[] => [
  { name: "Time", width: "12rem", cell: ({ timestamp }) => formatExactTime(timestamp) },
  {
    name: "User",
    width: "minmax(0, 1fr)",
    cell: ({ username, email }) => (
      <>
        <div>{username}</div>
        {email !== username && <div className="quiet">{email}</div>}
      </>
    ),
  },
  { name: "Operation", width: "minmax(0, 1fr)", cell: ({ operation }) => operation },
  {
    name: "Item",
    width: "minmax(0, 1.5fr)",
    cell: ({ resource, parameters }) => (
      <>
        <div>{resource}</div>
        <div className="quiet">
          {Object.entries(parameters ?? {}).map(([name, value], nth) => (
            <Fragment key={name}>
              {nth > 0 && ", "}
              {name === "job_id" ? (
                <Anchor component={Link} href={linkTo.run(workspace, String(value))} inherit>
                  run {String(value)}
                </Anchor>
              ) : (
                `${name}: ${value}`
              )}
            </Fragment>
          ))}
        </div>
      </>
    ),
  },
];

function useAuditLog(workspace: string, filters: AuditFilters) {
  return useInfiniteQuery({
    queryKey: [workspace, "audit", "list", filters],
    initialPageParam: 1,
    queryFn: ({ pageParam: page, signal }) =>
      callOperation(
        "GET /w/{workspace}/audit/list",
        { workspace, query: { ...toAuditQuery(filters), page, per_page: PAGE_SIZE } },
        signal,
      ),
    getNextPageParam: (last, all) => (last.length === PAGE_SIZE ? all.length + 1 : undefined),
    placeholderData: keepPreviousData,
  });
}

export default function AuditPage() {
  const workspace = useWorkspace();
  const [search, setSearch] = useSearchParams();
  const filters = useMemo(() => parseAuditFilters(search), [search]);
  const log = useAuditLog(workspace, filters);
  // A row written while pages are being read moves other rows to the next page.
  const rows = [...new Map(log.data?.pages.flat().map((row) => [row.id, row])).values()];
  const change = (next: Partial<AuditFilters>, push = false) =>
    setSearch(serializeAuditFilters({ ...filters, ...next }), { replace: !push });
  const isFiltered = Object.keys(serializeAuditFilters(filters)).length > 0;
  return (
    <div className="page">
      <PageHead title="Audit log" about="Who did what in this workspace, the newest first.">
        <Button
          variant="default"
          component="a"
          href={getOperationUrl("GET /w/{workspace}/audit/export", {
            workspace,
            query: toAuditQuery(filters),
          })}
          download="audit.jsonl"
        >
          Export
        </Button>
      </PageHead>
      <FilterFields filters={filters} change={change} />
      {log.error && <Problem error={log.error} retry={() => void log.refetch()} />}
      {log.isPending ? (
        <Loading rows={10} />
      ) : rows.length > 0 ? (
        <>
          <DataTable
            label="Audit log"
            columns={columnsOf(workspace)}
            rows={rows}
            keyOf={({ id }) => String(id)}
          />
          {log.hasNextPage && (
            <Center mt="md">
              <Button
                variant="default"
                loading={log.isFetchingNextPage}
                onClick={() => void log.fetchNextPage()}
              >
                Show earlier entries
              </Button>
            </Center>
          )}
        </>
      ) : log.error ? null : isFiltered ? (
        <Empty
          title="No entry matches"
          action={
            <Button variant="default" onClick={() => setSearch({})}>
              Clear the filters
            </Button>
          }
        >
          No stored entry matches all filters.
        </Empty>
      ) : (
        <Empty title="No entries yet" command="svc audit list">
          Every change of a script, a secret, a permission or a member is listed here with its author and
          time.
        </Empty>
      )}
    </div>
  );
}

interface FieldProps {
  filters: AuditFilters;
  change: (next: Partial<AuditFilters>, push?: boolean) => void;
}

function FilterFields({ filters, change }: FieldProps) {
  const text = (name: "username" | "operation" | "resource", label: string, hint: string) => (
    <TextInput
      label={label}
      placeholder={hint}
      value={filters[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value.trim() })}
      style={{ flex: "1 1 9rem" }}
    />
  );
  const date = (name: "after" | "before", label: string) => (
    <TextInput
      type="date"
      label={label}
      value={filters[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value }, true)}
      style={{ flex: "0 1 9.5rem" }}
    />
  );
  return (
    <Group gap="xs" mb="sm">
      {text("username", "User", "ann")}
      {text("operation", "Operation", "scripts.create")}
      {text("resource", "Item", "u/ann/hello")}
      <Select
        label="Kind"
        w={130}
        allowDeselect={false}
        data={KINDS}
        value={filters.kind}
        onChange={(value) => change({ kind: (value ?? "") as AuditFilters["kind"] }, true)}
      />
      {date("after", "From")}
      {date("before", "To")}
    </Group>
  );
}
