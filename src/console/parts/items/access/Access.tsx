import { Autocomplete, Badge, Button, Group, Modal, Select, Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Answer, callOperation } from "../../../api/call.ts";
import { memberQuery, whoamiQuery } from "../../../api/session.ts";
import { FormDialog, useAction } from "../../elements/actions.tsx";
import { type Column, DataTable } from "../../elements/DataTable.tsx";
import { Loading } from "../../elements/Loading.tsx";
import { Problem } from "../../elements/Problem.tsx";
import { RowMenu } from "../../elements/RowMenu.tsx";

/** Kinds of items, as named by operations on grants. */
export type ItemKind =
  | "script"
  | "flow"
  | "variable"
  | "resource"
  | "folder"
  | "schedule"
  | "http_trigger"
  | "websocket_trigger";

type Access = Answer<"GET /w/{workspace}/acls/explain/{kind}/{path}">[number];
type Reason = Access["reasons"][number];

/** Explains what the right to read an item permits. */
const READS: Record<ItemKind, string> = {
  script: "sees and runs it",
  flow: "sees and runs it",
  folder: "sees and runs it",
  variable: "reads and uses it",
  resource: "reads and uses it",
  schedule: "sees it",
  http_trigger: "sees it",
  websocket_trigger: "sees it",
};

const rightsTo = (kind: ItemKind) => ({ read: READS[kind], write: "edits it too", owner: "owns it" });

const accessQuery = (workspace: string, kind: ItemKind, path: string) =>
  queryOptions({
    queryKey: [workspace, "access", kind, path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/acls/explain/{kind}/{path}", { workspace, kind, path }, signal),
  });

const nameOf = (grantee: string) =>
  grantee === "g/all"
    ? "everybody here"
    : grantee.startsWith("g/")
      ? `the group ${grantee.slice(2)}`
      : undefined;

/** Explains where a right comes from. */
function sentence({ by, right, grantee = "" }: Reason, path: string): string {
  const group = nameOf(grantee);
  // For a folder, its name.
  const name = path.split("/")[1] ?? path;
  switch (by) {
    case "admin":
      return "an admin of the workspace";
    case "path":
      return group ? `the path belongs to ${group}` : "the path belongs to them";
    case "folder": {
      const what = { owner: "owns", write: "edits items in", read: "sees items in" }[right];
      return `${group ? `${group} ` : ""}${what} the folder ${name}`;
    }
    case "item":
      return `granted ${group ? `to ${group} ` : ""}on this item only`;
  }
}

interface Props {
  workspace: string;
  kind: ItemKind;
  path: string;
}

/** Shows who may do what with an item, and why. Users who may change grants can do so here. */
export function Access({ workspace, kind, path }: Props) {
  const found = useQuery(accessQuery(workspace, kind, path));
  const me = useQuery(whoamiQuery).data;
  const username = useQuery(memberQuery(workspace)).data?.username;
  const [isGiving, setGiving] = useState(false);
  const { act } = useAction();
  if (found.error) return <Problem error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return <Loading rows={3} />;
  const own = found.data.find((each) => each.username === username);
  const mayGive =
    kind !== "folder" && (me?.super_admin === true || (own !== undefined && own.right !== "read"));
  const take = (owner: string) =>
    act(async () => {
      await callOperation("POST /w/{workspace}/acls/remove/{kind}/{path}", {
        workspace,
        kind,
        path,
        body: { owner },
      });
      return `The permission of ${owner} is revoked`;
    });
  const rights = rightsTo(kind);
  const columns: Column<Access>[] = [
    {
      name: "User",
      width: "minmax(0, 1fr)",
      cell: (each) => (
        <Group gap="xs">
          <Text fw={500}>{each.username}</Text>
          {each.operator && (
            <Badge variant="default" size="sm">
              operator
            </Badge>
          )}
        </Group>
      ),
    },
    { name: "Permission", width: "10rem", cell: ({ right }) => rights[right] },
    {
      name: "Reason",
      width: "minmax(0, 2fr)",
      cell: ({ reasons, operator, right }) => (
        <span className="quiet wrap">
          {reasons.map((reason) => sentence(reason, path)).join("; ")}
          {operator && right === "read" && "; operators only see and run"}
        </span>
      ),
    },
    {
      name: "",
      width: "2rem",
      cell: ({ reasons, username: of }) =>
        mayGive && (
          <RowMenu
            of={of}
            entries={reasons.map(
              ({ by, grantee }) =>
                by === "item" &&
                grantee !== undefined && {
                  label: `Revoke the permission of ${grantee}`,
                  onClick: () => take(grantee),
                  isDangerous: true,
                },
            )}
          />
        ),
    },
  ];
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text c="dimmed">
          Nobody else can see it. If somebody has several permissions, the strongest applies.
        </Text>
        {mayGive && (
          <Button variant="default" size="xs" onClick={() => setGiving(true)}>
            Give somebody access
          </Button>
        )}
      </Group>
      <DataTable label="Permissions" columns={columns} rows={found.data} keyOf={(each) => each.username} />
      <Give workspace={workspace} kind={kind} path={path} opened={isGiving} close={() => setGiving(false)} />
    </>
  );
}

function Give({ workspace, kind, path, opened, close }: Props & { opened: boolean; close: () => void }) {
  const rights = rightsTo(kind);
  const [owner, setOwner] = useState("");
  const [right, setRight] = useState<"read" | "write">("read");
  const names = useQuery({
    queryKey: [workspace, "grantees"],
    queryFn: async ({ signal }) => {
      const [users, groups] = await Promise.all([
        callOperation("GET /w/{workspace}/users/list_usernames", { workspace }, signal),
        callOperation("GET /w/{workspace}/groups/listnames", { workspace }, signal),
      ]);
      return [...users.map((name) => `u/${name}`), ...groups.map((name) => `g/${name}`)];
    },
    enabled: opened,
  }).data;
  return (
    <FormDialog
      title={`Give access to ${path}`}
      opened={opened}
      close={close}
      label="Give"
      isReady={/^[ug]\/./.test(owner)}
      action={async () => {
        const body = { owner, write: right === "write" };
        await callOperation("POST /w/{workspace}/acls/add/{kind}/{path}", { workspace, kind, path, body });
        setOwner("");
        return `${owner} ${rights[right]}`;
      }}
    >
      <Autocomplete
        data-autofocus
        label="User or group"
        description="A user (u/…) or a group (g/…)"
        data={names ?? []}
        value={owner}
        onChange={setOwner}
      />
      <Select
        label="Permission"
        allowDeselect={false}
        value={right}
        onChange={(value) => setRight(value === "write" ? "write" : "read")}
        data={(["read", "write"] as const).map((value) => ({ value, label: rights[value] }))}
      />
    </FormDialog>
  );
}

/** The same as a dialog, for an item in a list. */
export function AccessDialog({
  workspace,
  kind,
  path,
  close,
}: Omit<Props, "path"> & { path: string | undefined; close: () => void }) {
  return (
    <Modal opened={path !== undefined} onClose={close} title={`Who may use ${path}?`} size="xl">
      {path !== undefined && <Access workspace={workspace} kind={kind} path={path} />}
    </Modal>
  );
}
