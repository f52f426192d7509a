import { Anchor, Table } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useParams } from "wouter";
import { usePolling } from "../../../api/live.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { formatDuration } from "../../../parts/elements/time.tsx";
import { type Health as HealthAnswer, healthQuery } from "./queries.ts";
import { formatSize } from "./size.ts";

export function Health() {
  const state = useQuery({ ...healthQuery, ...usePolling(10_000) });
  const { workspace } = useParams<{ workspace: string }>();
  if (state.error) return <Problem error={state.error} retry={() => void state.refetch()} />;
  if (!state.data) return <Loading />;
  const { status, checks = [], details } = state.data;
  return (
    <>
      <p>
        <Sign ok={status === "ready"} />{" "}
        {status === "ready" ? "The server is ready" : "The server is not ready: see the failed checks"}
      </p>
      <Table variant="vertical" layout="fixed" withTableBorder mb="lg" aria-label="Checks">
        <Table.Tbody>
          {checks.map(({ name, ok, detail }) => (
            <Table.Tr key={name}>
              <Table.Th w={180} tt="capitalize">
                {name}
              </Table.Th>
              <Table.Td>
                <Sign ok={ok} /> {detail}
              </Table.Td>
            </Table.Tr>
          ))}
          {details &&
            factsOf(details, workspace).map(([name, value]) => <Fact key={name} name={name} value={value} />)}
        </Table.Tbody>
      </Table>
    </>
  );
}

function factsOf(
  details: NonNullable<HealthAnswer["details"]>,
  workspace: string | undefined,
): [string, ReactNode][] {
  const { version, uptime_s, database, database_bytes, memory_bytes, disk_free_bytes, disk_low } = details;
  const retention = `/w/${workspace}/instance?tab=settings&q=retention`;
  return [
    ["Version", version],
    ["Uptime", formatDuration(uptime_s * 1_000)],
    ["Database system", database === "postgres" ? "PostgreSQL" : "SQLite, in the data directory"],
    [
      "Database size",
      <>
        {database_bytes === null ? "not known" : formatSize(database_bytes)}
        <span className="quiet">
          {" · "}
          <Anchor component={Link} href={retention} inherit underline="always">
            retention of runs and audit log
          </Anchor>
        </span>
      </>,
    ],
    ["Memory", formatSize(memory_bytes)],
    [
      "Free on the disk",
      disk_free_bytes === null ? (
        "not known"
      ) : (
        <>
          {disk_low && <Sign ok={false} />} {formatSize(disk_free_bytes)}
          {disk_low && ": the disk is almost full"}
        </>
      ),
    ],
  ];
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th w={180}>{name}</Table.Th>
      <Table.Td>{value}</Table.Td>
    </Table.Tr>
  );
}

function Sign({ ok }: { ok: boolean }) {
  const Icon = ok ? IconCircleCheck : IconAlertTriangle;
  return (
    <Icon size={16} aria-hidden style={{ verticalAlign: "-3px", color: ok ? "var(--good)" : "var(--bad)" }} />
  );
}
