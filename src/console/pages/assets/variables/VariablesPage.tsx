import { Badge, Button } from "@mantine/core";
import { IconLock, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { ListableVariable } from "../../../api/interface.d.ts";
import { useMayWrite, useOwnPrefix } from "../../../api/item-rights.ts";
import { useMay } from "../../../api/session.ts";
import { useConfirmation } from "../../../parts/elements/actions.tsx";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { AccessDialog } from "../../../parts/items/access/Access.tsx";
import { OnlyFirst } from "../../../parts/items/OnlyFirst.tsx";
import { useRefreshToken } from "../../../parts/items/refresh-token.ts";
import { useSearch } from "../../../parts/items/Search.tsx";
import { TokenState } from "../../../parts/items/TokenState.tsx";
import { Uses } from "../../../parts/items/Uses.tsx";
import { useWorkspace } from "../../../parts/navigation/places.ts";
import { MAX_VARIABLES, variablesQuery } from "./queries.ts";
import { Reveal } from "./Reveal.tsx";
import { VariableDialog } from "./VariableDialog.tsx";

export default function VariablesPage() {
  const workspace = useWorkspace();
  const list = useQuery(variablesQuery(workspace));
  const may = useMay(workspace)("POST /w/{workspace}/variables/create", "author");
  const mayWrite = useMayWrite(workspace);
  const prefix = useOwnPrefix(workspace);
  const [edited, setEdited] = useState<{ variable: ListableVariable | undefined; key: number }>();
  const [isEditing, setEditing] = useState(false);
  const [revealed, setRevealed] = useState<string>();
  const [used, setUsed] = useState<string>();
  const [asked, setAsked] = useState<string>();
  const refresh = useRefreshToken(workspace);
  const { ask, dialog } = useConfirmation();
  const edit = (variable: ListableVariable | undefined) => {
    setEdited({ variable, key: (edited?.key ?? 0) + 1 });
    setEditing(true);
  };
  const remove = (path: string) =>
    ask({
      title: `Delete ${path}?`,
      text: "Scripts and flows that use it will fail. Its value cannot be restored.",
      label: "Delete",
      action: async () => {
        await callOperation("DELETE /w/{workspace}/variables/delete/{path}", { workspace, path });
        return `${path} is deleted`;
      },
    });
  const [rows, field] = useSearch(
    "variables",
    "Search by path or description",
    list.data ?? [],
    ({ path, description }) => `${path} ${description}`,
  );
  const create = may && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => edit(undefined)}>
      New variable
    </Button>
  );
  return (
    <div className="page">
      <PageHead title="Variables" about="Values and secrets that scripts and flows read by their path.">
        {(list.data?.length ?? 0) > 0 && create}
      </PageHead>
      {list.error && !list.data ? (
        <Problem error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Loading />
      ) : list.data.length === 0 ? (
        <Empty
          title="No variables yet"
          action={create}
          command={may && "svc variable set u/you/api_key --secret"}
        >
          A variable keeps a password, a key or a setting out of the code. A secret is stored encrypted, is
          hidden in lists and logs, and each access to it is recorded in the audit log.
        </Empty>
      ) : (
        <>
          {field}
          {rows.length === 0 ? (
            <Empty title="Nothing matches">Change the search.</Empty>
          ) : (
            <DataTable
              label="Variables"
              rows={rows}
              keyOf={({ path }) => path}
              columns={[
                {
                  name: "Path",
                  width: "minmax(0, 1.3fr)",
                  cell: ({ path }) => <span className="mono wrap">{path}</span>,
                },
                { name: "Value", width: "minmax(0, 1fr)", cell: (variable) => <Value variable={variable} /> },
                {
                  name: "Description",
                  width: "minmax(0, 1.3fr)",
                  wideOnly: true,
                  cell: ({ description }) => <div className="clip quiet">{description}</div>,
                },
                {
                  name: "Account",
                  width: "8rem",
                  cell: (variable) =>
                    typeof variable.account === "number" ? (
                      <TokenState {...variable} />
                    ) : variable.is_linked ? (
                      <Badge size="sm" variant="default">
                        of a resource
                      </Badge>
                    ) : null,
                },
                {
                  name: "",
                  width: "2rem",
                  cell: (variable) => {
                    const { path, is_secret, account, extra_perms } = variable;
                    const writes = mayWrite(path, extra_perms);
                    return (
                      <RowMenu
                        of={path}
                        entries={[
                          is_secret && may && { label: "Show the value", onClick: () => setRevealed(path) },
                          writes && { label: "Edit", onClick: () => edit(variable) },
                          { label: "Where it is used", onClick: () => setUsed(path) },
                          { label: "Who may use it", onClick: () => setAsked(path) },
                          typeof account === "number" && {
                            label: "Refresh the token",
                            onClick: () => refresh(path, account),
                          },
                          writes && { label: "Delete", onClick: () => remove(path), isDangerous: true },
                        ]}
                      />
                    );
                  },
                },
              ]}
            />
          )}
          <OnlyFirst max={MAX_VARIABLES} count={list.data.length} />
        </>
      )}
      {edited && (
        <VariableDialog
          key={edited.key}
          workspace={workspace}
          variable={edited.variable}
          prefix={prefix}
          opened={isEditing}
          close={() => setEditing(false)}
        />
      )}
      <Reveal workspace={workspace} path={revealed} close={() => setRevealed(undefined)} />
      <AccessDialog workspace={workspace} kind="variable" path={asked} close={() => setAsked(undefined)} />
      <Uses workspace={workspace} path={used} close={() => setUsed(undefined)} />
      {dialog}
    </div>
  );
}

function Value({ variable: { is_secret, value } }: { variable: ListableVariable }) {
  if (!is_secret) return <div className="clip mono">{value}</div>;
  return (
    <span className="state quiet">
      <IconLock size={15} aria-hidden />
      secret
    </span>
  );
}
