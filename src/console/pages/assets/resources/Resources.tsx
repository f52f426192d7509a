import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { call } from "../../../api/call.ts";
import { useMay } from "../../../api/session.ts";
import { AccessDialog } from "../../../parts/access/Access.tsx";
import { useQuestion } from "../../../parts/actions.tsx";
import { DataTable } from "../../../parts/DataTable.tsx";
import { Empty } from "../../../parts/Empty.tsx";
import { ItemName } from "../../../parts/items/ItemName.tsx";
import { OnlyFirst } from "../../../parts/items/OnlyFirst.tsx";
import { useRefreshToken } from "../../../parts/items/refresh-token.ts";
import { useMayWrite } from "../../../parts/items/rights.ts";
import { useSearch } from "../../../parts/items/Search.tsx";
import { TokenState } from "../../../parts/items/TokenState.tsx";
import { Uses } from "../../../parts/items/Uses.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to } from "../../../parts/places.ts";
import { RowMenu } from "../../../parts/RowMenu.tsx";
import { Moment } from "../../../parts/time.tsx";
import { type ListedResource, MAX_RESOURCES, resourceList } from "./queries.ts";

export function Resources({ workspace }: { workspace: string }) {
  const list = useQuery(resourceList(workspace));
  const [, go] = useLocation();
  const may = useMay(workspace)("POST /w/{workspace}/resources/create", "author");
  const mayWrite = useMayWrite(workspace);
  const [used, setUsed] = useState<string>();
  const [asked, setAsked] = useState<string>();
  const refresh = useRefreshToken(workspace);
  const { ask, dialog } = useQuestion();
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
            <Button component={Link} href={to.newResource(workspace)}>
              New resource
            </Button>
          )
        }
        command="svc resource set u/you/database --type postgresql"
      >
        A resource holds the connection data of a database, an account or a service, with the fields of its
        type. Scripts take it as an argument, so that the same code runs against any of them. Its passwords
        are kept as secrets.
      </Empty>
    );
  const remove = (path: string) =>
    ask({
      title: `Delete ${path}?`,
      text: "Scripts and flows that use it will fail. Its secrets are kept as variables.",
      label: "Delete",
      action: async () => {
        await call("DELETE /w/{workspace}/resources/delete/{path}", { workspace, path });
        return `${path} is deleted`;
      },
    });
  const disconnect = ({ path, account }: ListedResource) =>
    ask({
      title: `Disconnect ${path}?`,
      text: "The account is disconnected here and at the provider. Its token is no longer refreshed.",
      label: "Disconnect",
      action: () => call("POST /w/{workspace}/oauth/disconnect/{id}", { workspace, id: String(account) }),
    });
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
              cell: ({ path }) => <ItemName href={to.resource(workspace, path)} path={path} />,
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
                const { path, account, extra_perms } = resource;
                const writes = mayWrite(path, extra_perms);
                const hasAccount = typeof account === "number";
                return (
                  <RowMenu
                    of={path}
                    entries={[
                      { label: writes ? "Edit" : "View", onClick: () => go(to.resource(workspace, path)) },
                      { label: "Where it is used", onClick: () => setUsed(path) },
                      { label: "Who may use it", onClick: () => setAsked(path) },
                      hasAccount && { label: "Refresh the token", onClick: () => refresh(path, account) },
                      hasAccount && writes && { label: "Disconnect", onClick: () => disconnect(resource) },
                      writes && { label: "Delete", onClick: () => remove(path), isDangerous: true },
                    ]}
                  />
                );
              },
            },
          ]}
        />
      )}
      <OnlyFirst max={MAX_RESOURCES} count={list.data.length} />
      <AccessDialog workspace={workspace} kind="resource" path={asked} close={() => setAsked(undefined)} />
      <Uses workspace={workspace} path={used} close={() => setUsed(undefined)} />
      {dialog}
    </>
  );
}
