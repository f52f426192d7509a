import { Menu, Text, UnstyledButton } from "@mantine/core";
import { IconCheck, IconPlus, IconSelector } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { myWorkspacesQuery } from "../api/session.ts";
import { linkTo, useWorkspace } from "../parts/navigation/places.ts";

/** Returns the display name of the current workspace; its id until that is known. */
export function useWorkspaceName(): string {
  const workspace = useWorkspace();
  const all = useQuery(myWorkspacesQuery).data?.workspaces;
  return all?.find(({ id }) => id === workspace)?.name ?? workspace;
}

export function WorkspaceMenu() {
  const workspace = useWorkspace();
  const [, go] = useLocation();
  const { workspaces = [] } = useQuery(myWorkspacesQuery).data ?? {};
  const name = useWorkspaceName();
  return (
    <Menu width={232} position="bottom-start">
      <Menu.Target>
        <UnstyledButton
          className="nav-link"
          aria-label={`Workspace ${name}: choose another`}
          style={{ display: "flex", alignItems: "center", gap: "0.6rem" }}
        >
          <Text fw={600} className="clip" style={{ flex: 1 }}>
            {name}
          </Text>
          <IconSelector size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Workspaces</Menu.Label>
        {workspaces.map(({ id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => go(linkTo.home(id))}
            rightSection={id === workspace ? <IconCheck size={16} aria-label="open" /> : undefined}
          >
            <span className="wrap">{name}</span>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconPlus size={16} />} onClick={() => go("/workspaces")}>
          New workspace, invitations
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
