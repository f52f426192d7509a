import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { usageQuery } from "./queries.ts";

export function Usage({ workspace }: { workspace: string }) {
  const usage = useQuery(usageQuery(workspace));
  if (usage.error) return <Problem error={usage.error} retry={() => void usage.refetch()} />;
  if (!usage.data) return <Loading />;
  const rows = usage.data.toSorted((one, other) => other.executions - one.executions);
  if (rows.every(({ executions }) => executions === 0)) {
    return (
      <Empty
        title="Nothing ran in the last seven days"
        action={
          <Button component={Link} href={linkTo.home(workspace)}>
            Choose what to run
          </Button>
        }
        command="svc run u/you/hello"
      >
        Shows how much each user ran, by the number of runs and the seconds that they took.
      </Empty>
    );
  }
  return (
    <>
      <Text c="dimmed" mb="sm">
        Executions in the last seven days. A run counts as one, plus one for each second that it took.
      </Text>
      <DataTable
        label="Usage"
        rows={rows}
        keyOf={({ email }) => email}
        columns={[
          { name: "User", width: "minmax(0, 1fr)", cell: ({ email }) => email },
          { name: "Executions", width: "9rem", cell: ({ executions }) => executions.toLocaleString() },
        ]}
      />
    </>
  );
}
