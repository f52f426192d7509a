import { Badge, Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { useAction, useConfirmation } from "../../../parts/elements/actions.tsx";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { type Workspace, workspacesQuery } from "./queries.ts";

export function Workspaces() {
  const workspaces = useQuery(workspacesQuery);
  const { act } = useAction();
  const { ask, dialog } = useConfirmation();
  const remove = (workspace: string) =>
    ask({
      title: `Delete the workspace ${workspace}?`,
      text: "All its scripts, flows, secrets, runs and logs are deleted. This cannot be undone.",
      label: "Delete",
      name: workspace,
      action: async () => {
        await callOperation("DELETE /workspaces/delete/{workspace}", { workspace });
        return `The workspace ${workspace} was deleted`;
      },
    });
  const restore = (workspace: string) =>
    act(async () => {
      await callOperation("POST /workspaces/unarchive/{workspace}", { workspace });
      return `${workspace} is restored`;
    });
  const columns: Column<Workspace>[] = [
    {
      name: "Workspace",
      width: "minmax(0, 2fr)",
      cell: ({ id, name, deleted }) => (
        <>
          <Group gap={6} fw={500}>
            {deleted ? name : <Link href={linkTo.home(id)}>{name}</Link>}
            {deleted && (
              <Badge size="xs" variant="default">
                archived
              </Badge>
            )}
          </Group>
          <div className="quiet mono">{id}</div>
        </>
      ),
    },
    {
      name: "Created by",
      width: "minmax(0, 1fr)",
      cell: ({ owner }) => <span className="quiet">{owner}</span>,
    },
    {
      name: "",
      width: "2rem",
      cell: ({ id, deleted }) => (
        <RowMenu
          of={id}
          entries={[
            deleted && { label: "Restore", onClick: () => restore(id) },
            { label: "Delete", onClick: () => remove(id), isDangerous: true },
          ]}
        />
      ),
    },
  ];
  if (workspaces.error) return <Problem error={workspaces.error} retry={() => void workspaces.refetch()} />;
  if (!workspaces.data) return <Loading />;
  return (
    <>
      <Group justify="flex-end" mb="sm">
        <Button component={Link} href="/workspaces">
          New workspace
        </Button>
      </Group>
      <DataTable label="Workspaces" columns={columns} rows={workspaces.data} keyOf={({ id }) => id} />
      {dialog}
    </>
  );
}
