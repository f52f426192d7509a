import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { useMayWrite } from "../../../api/item-rights.ts";
import { useMay } from "../../../api/session.ts";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { ItemName } from "../../../parts/items/ItemName.tsx";
import { OnlyFirst } from "../../../parts/items/OnlyFirst.tsx";
import { useSearch } from "../../../parts/items/Search.tsx";
import { TokenState } from "../../../parts/items/TokenState.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { MAX_RESOURCES, resourcesQuery } from "./queries.ts";
import { useResourceMenu } from "./use-resource-menu.tsx";

export function Resources({ workspace }: { workspace: string }) {
  const list = useQuery(resourcesQuery(workspace));
  const [, go] = useLocation();
  const may = useMay(workspace)("POST /w/{workspace}/resources/create", "author");
  const mayWrite = useMayWrite(workspace);
  const { listMenuEntries, dialogs } = useResourceMenu(workspace);
  const [rows, field] = useSearch(
    "resources",
    "Search by path, type or description",
    list.data ?? [],
    ({ path, resource_type, description }) => `${path} ${resource_type} ${description}`,
  );
  if (list.error && !list.data) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading />;
  if (list.data.length === 0)
    return (
      <Empty
        title="No resources yet"
        action={
          may && (
            <Button
              component={Link}
              href={linkTo.newResource(workspace)}
              leftSection={<IconPlus size={16} />}
            >
              New resource
            </Button>
          )
        }
        command={may && "svc resource set u/you/database --type postgresql"}
      >
        A resource holds the connection data of a database, an account or a service, with the fields of its
        type. Scripts take it as an argument, so that the same code runs against any of them. Its passwords
        are kept as secrets.
      </Empty>
    );
  return (
    <>
      {field}
      {rows.length === 0 ? (
        <Empty title="Nothing matches">Change the search.</Empty>
      ) : (
        <DataTable
          label="Resources"
          rows={rows}
          keyOf={({ path }) => path}
          columns={[
            {
              name: "Path",
              width: "minmax(0, 1.2fr)",
              cell: ({ path }) => <ItemName href={linkTo.resource(workspace, path)} path={path} />,
            },
            { name: "Type", width: "9rem", cell: ({ resource_type }) => resource_type },
            {
              name: "Description",
              width: "minmax(0, 1.2fr)",
              wideOnly: true,
              cell: ({ description }) => <div className="clip quiet">{description}</div>,
            },
            {
              name: "Account",
              width: "8rem",
              cell: (resource) =>
                typeof resource.account === "number" ? <TokenState {...resource} /> : null,
            },
            {
              name: "Edited",
              width: "8rem",
              wideOnly: true,
              cell: ({ edited_at }) => <Moment at={edited_at} />,
            },
            {
              name: "",
              width: "2rem",
              cell: (resource) => {
                const { path, extra_perms } = resource;
                const label = mayWrite(path, extra_perms) ? "Edit" : "View";
                const open = { label, onClick: () => go(linkTo.resource(workspace, path)) };
                return <RowMenu of={path} entries={[open, ...listMenuEntries(resource)]} />;
              },
            },
          ]}
        />
      )}
      <OnlyFirst max={MAX_RESOURCES} count={list.data.length} />
      {dialogs}
    </>
  );
}
