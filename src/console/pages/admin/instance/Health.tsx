import { Table } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useLive } from "../../../api/live.ts";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { duration } from "../../../parts/time.tsx";
import { type Health as HealthAnswer, health } from "./queries.ts";

const MB = 1_048_576;
const sizeOf = (bytes: number) =>
  bytes < 1_024 * MB ? `${Math.round(bytes / MB)} MB` : `${(bytes / 1_024 / MB).toFixed(1)} GB`;

export function Health() {
  const state = useQuery({ ...health, ...useLive(10_000) });
  if (state.error) return <Problem error={state.error} retry={() => void state.refetch()} />;
  if (!state.data) return <Loading />;
  const { status, checks = [], details } = state.data;
  return (
    <>
      <p>
        <Sign ok={status === "ready"} />{" "}
        {status === "ready" ? "The server is ready" : "Something is in the way"}
      </p>
      <Table variant="vertical" layout="fixed" withTableBorder mb="lg" aria-label="Checks">
        <Table.Tbody>
          {checks.map(({ name, ok, message }) => (
            <Table.Tr key={name}>
              <Table.Th w={180} tt="capitalize">
                {name}
              </Table.Th>
              <Table.Td>
                <Sign ok={ok} /> {ok ? "in order" : (message ?? "fails")}
              </Table.Td>
            </Table.Tr>
          ))}
          {details && factsOf(details).map(([name, value]) => <Fact key={name} name={name} value={value} />)}
        </Table.Tbody>
      </Table>
    </>
  );
}

const factsOf = (details: NonNullable<HealthAnswer["details"]>): [string, string][] => [
  ["Version", details.version],
  ["Running for", duration(details.uptime_s * 1_000)],
  ["Database", details.database === "postgres" ? "PostgreSQL" : "SQLite, in the data directory"],
  ["Memory", sizeOf(details.memory_bytes)],
  ["Free on the disk", details.disk_free_bytes === null ? "not known" : sizeOf(details.disk_free_bytes)],
];

function Fact({ name, value }: { name: string; value: string }) {
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
