import { Badge, Button, Group, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { User } from "../../../api/interface.d.ts";
import { useMay, whoamiQuery } from "../../../api/session.ts";
import { useAction, useConfirmation } from "../../../parts/elements/actions.tsx";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { InviteDialog } from "./InviteDialog.tsx";
import { invitationsQuery, membersQuery } from "./queries.ts";
import { getRole, getRoleLabel, ROLES, type Role, toRoleFlags } from "./roles.ts";

export function Members({ workspace }: { workspace: string }) {
  const may = useMay(workspace);
  const isAdmin = may("POST /w/{workspace}/users/update/{username}", "admin");
  const me = useQuery(whoamiQuery).data;
  const members = useQuery(membersQuery(workspace));
  const [isInviting, setInviting] = useState(false);
  const { act } = useAction();
  const { ask, dialog } = useConfirmation();
  const setRole = (username: string, role: Role) =>
    act(async () => {
      await callOperation("POST /w/{workspace}/users/update/{username}", {
        workspace,
        username,
        body: toRoleFlags(role),
      });
      return `${username} is ${getRoleLabel(role).toLowerCase()} now`;
    });
  const setDisabled = (username: string, disabled: boolean) =>
    act(async () => {
      await callOperation("POST /w/{workspace}/users/update/{username}", {
        workspace,
        username,
        body: { disabled },
      });
      return disabled ? `${username} is disabled in this workspace` : `${username} is enabled again`;
    });
  const remove = (username: string) =>
    ask({
      title: `Remove ${username}?`,
      text: `${username} leaves the workspace ${workspace}; their tokens for it are revoked. Scripts, flows and schedules in u/${username} are kept.`,
      label: "Remove",
      action: async () => {
        await callOperation("DELETE /w/{workspace}/users/delete/{username}", { workspace, username });
        return `${username} was removed`;
      },
    });
  const columns: Column<User>[] = [
    {
      name: "Member",
      width: "minmax(0, 2fr)",
      cell: ({ username, email }) => (
        <>
          <div style={{ fontWeight: 500 }}>{username}</div>
          <div className="quiet">{email}</div>
        </>
      ),
    },
    {
      name: "Role",
      width: "11rem",
      cell: (user) => (
        <Group gap={6}>
          {getRoleLabel(getRole(user))}
          {user.disabled && (
            <Badge size="xs" color="red" variant="light">
              disabled
            </Badge>
          )}
        </Group>
      ),
    },
    {
      name: "Groups",
      width: "minmax(0, 1fr)",
      wideOnly: true,
      cell: ({ groups }) => <span className="quiet">{groups.join(", ")}</span>,
    },
    {
      name: "Joined",
      width: "8rem",
      wideOnly: true,
      cell: ({ created_at }) => (
        <span className="quiet">
          <Moment at={created_at} />
        </span>
      ),
    },
    {
      name: "",
      width: "2rem",
      cell: (user) => {
        const { username } = user;
        // Users could lock themselves out.
        if (!isAdmin || user.email === me?.email) return null;
        return (
          <RowMenu
            of={username}
            entries={[
              ...ROLES.filter(({ value }) => value !== getRole(user)).map(({ value, label }) => ({
                label: `Make ${label.toLowerCase()}`,
                onClick: () => setRole(username, value),
              })),
              {
                label: user.disabled ? "Enable" : "Disable",
                onClick: () => setDisabled(username, !user.disabled),
              },
              { label: "Remove from the workspace", onClick: () => remove(username), isDangerous: true },
            ]}
          />
        );
      },
    },
  ];
  if (members.error) return <Problem error={members.error} retry={() => void members.refetch()} />;
  if (!members.data) return <Loading />;
  return (
    <>
      {may("POST /w/{workspace}/workspaces/invite_user", "admin") && (
        <Group justify="flex-end" mb="sm">
          <Button onClick={() => setInviting(true)}>Invite somebody</Button>
        </Group>
      )}
      <DataTable label="Members" columns={columns} rows={members.data} keyOf={({ username }) => username} />
      {isAdmin && <Invitations workspace={workspace} />}
      <InviteDialog workspace={workspace} opened={isInviting} close={() => setInviting(false)} />
      {dialog}
    </>
  );
}

type Invitation = Parameters<typeof getRole>[0] & { email: string };

function Invitations({ workspace }: { workspace: string }) {
  const invitations = useQuery(invitationsQuery(workspace)).data ?? [];
  const { act } = useAction();
  if (invitations.length === 0) return null;
  const columns: Column<Invitation>[] = [
    { name: "E-mail", width: "minmax(0, 1fr)", cell: ({ email }) => email },
    { name: "Role", width: "9rem", cell: (invitation) => getRoleLabel(getRole(invitation)) },
    {
      name: "",
      width: "2rem",
      cell: ({ email, is_admin, operator }) => (
        <RowMenu
          of={email}
          entries={[
            {
              label: "Revoke the invitation",
              onClick: () =>
                act(async () => {
                  await callOperation("POST /w/{workspace}/workspaces/delete_invite", {
                    workspace,
                    body: { email, is_admin, operator },
                  });
                  return `${email} is no longer invited`;
                }),
            },
          ]}
        />
      ),
    },
  ];
  return (
    <section aria-label="Invitations">
      <div className="folder">
        <Title order={2}>Invited</Title>
        <span className="quiet">they join when they accept</span>
      </div>
      <DataTable label="Invitations" columns={columns} rows={invitations} keyOf={({ email }) => email} />
    </section>
  );
}
