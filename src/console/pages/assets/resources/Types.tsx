import { useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { callOperation } from "../../../api/call.ts";
import type { ResourceType } from "../../../api/interface.d.ts";
import { memberQuery, useMay, whoamiQuery } from "../../../api/session.ts";
import { useConfirmation } from "../../../parts/elements/actions.tsx";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { resourceTypesQuery } from "./queries.ts";

/** Returns the names of a type's fields. */
const listFields = (schema: unknown) =>
  Object.keys((schema as { properties?: Record<string, unknown> } | null)?.properties ?? {});

/** Returns a check for the right to change a type, which its creator and admins have. */
function useMayChangeType(workspace: string): (type: ResourceType) => boolean {
  const isSuperAdmin = useQuery(whoamiQuery).data?.super_admin;
  const member = useQuery(memberQuery(workspace)).data;
  return ({ created_by }) => isSuperAdmin || member?.is_admin || member?.username === created_by;
}

interface Props {
  workspace: string;
  /** Opens the form of a type. */
  edit: (type: ResourceType) => void;
}

/** Types of resources: those that every workspace has, and those that are made here. */
export function Types({ workspace, edit }: Props) {
  const list = useQuery(resourceTypesQuery(workspace));
  const may = useMay(workspace);
  const writes = may("POST /w/{workspace}/resources/type/create", "author");
  const creates = may("POST /w/{workspace}/resources/create", "author");
  const mayChange = useMayChangeType(workspace);
  const [, go] = useLocation();
  const { ask, dialog } = useConfirmation();
  if (list.error && !list.data) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading />;
  const create = (name: string) =>
    go(`${linkTo.newResource(workspace)}?${new URLSearchParams({ type: name })}`);
  const remove = (name: string) =>
    ask({
      title: `Delete the type ${name}?`,
      text: "Its resources are kept, but can then be edited as JSON only.",
      label: "Delete",
      action: async () => {
        await callOperation("DELETE /w/{workspace}/resources/type/delete/{name}", { workspace, name });
        return `${name} is deleted`;
      },
    });
  return (
    <>
      <DataTable
        label="Types"
        rows={list.data}
        keyOf={({ workspace_id, name }) => `${workspace_id} ${name}`}
        columns={[
          { name: "Type", width: "minmax(0, 1fr)", cell: ({ name }) => <b>{name}</b> },
          {
            name: "Fields",
            width: "minmax(0, 2fr)",
            cell: ({ schema }) => <div className="clip quiet">{listFields(schema).join(", ")}</div>,
          },
          {
            name: "Description",
            width: "minmax(0, 2fr)",
            wideOnly: true,
            cell: ({ description }) => <div className="clip quiet">{description}</div>,
          },
          {
            name: "",
            width: "2rem",
            cell: (type) => {
              const changes = writes && type.workspace_id === workspace && mayChange(type);
              return (
                <RowMenu
                  of={type.name}
                  entries={[
                    creates && { label: "New resource of this type", onClick: () => create(type.name) },
                    changes && { label: "Edit", onClick: () => edit(type) },
                    changes && { label: "Delete", onClick: () => remove(type.name), isDangerous: true },
                  ]}
                />
              );
            },
          },
        ]}
      />
      {dialog}
    </>
  );
}
