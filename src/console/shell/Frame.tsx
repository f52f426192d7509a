/** Layout of all pages of a workspace: navigation, header, main region. */
import { ActionIcon, AppShell, Burger, Group, NavLink, Stack, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { type ReactNode, useEffect } from "react";
import { Link, useLocation } from "wouter";
import { useWorkspace } from "../parts/navigation/places.ts";
import { LostConnection } from "./Notices.tsx";
import type { Destination } from "./navigation.ts";
import { PersonMenu } from "./PersonMenu.tsx";
import { palette } from "./palette-store.ts";
import { useWorkspaceName, WorkspaceMenu } from "./WorkspaceMenu.tsx";

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Frame({ destinations, children }: { destinations: Destination[]; children: ReactNode }) {
  const [open, { toggle, close }] = useDisclosure();
  const [location] = useLocation();
  const workspace = useWorkspace();
  const name = useWorkspaceName();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever goes on has chosen
  useEffect(close, [location]);
  return (
    <AppShell
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 236, breakpoint: "sm", collapsed: { mobile: !open } }}
    >
      <a className="skip" href="#main">
        Go to the page
      </a>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="sm" justify="space-between" wrap="nowrap">
          <Burger
            opened={open}
            onClick={toggle}
            size="sm"
            aria-label={open ? "Close the navigation" : "Open the navigation"}
          />
          <Text fw={600} className="clip">
            {name}
          </Text>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Search" onClick={palette.open}>
            <IconSearch size={20} />
          </ActionIcon>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="frame-nav" p="sm" aria-label="Workspace">
        <Stack gap="xs" h="100%">
          <WorkspaceMenu />
          <UnstyledButton
            className="nav-link"
            onClick={palette.open}
            style={{ display: "flex", alignItems: "center", gap: "0.6rem", border: "1px solid var(--line)" }}
          >
            <IconSearch size={17} aria-hidden />
            <span style={{ flex: 1 }}>Search</span>
            <span className="key">{isMac ? "⌘ K" : "Ctrl K"}</span>
          </UnstyledButton>
          <Stack gap={2} mt="xs" style={{ flex: 1, overflowY: "auto" }}>
            {destinations.map(({ label, href, Icon, load }) => {
              const isHere = href === `/w/${workspace}` ? location === href : location.startsWith(href);
              return (
                <NavLink
                  key={href}
                  className="nav-link"
                  component={Link}
                  href={href}
                  onPointerEnter={load}
                  onFocus={load}
                  label={label}
                  leftSection={<Icon size={18} aria-hidden />}
                  {...(isHere ? { "data-active": true, "aria-current": "page" as const } : {})}
                />
              );
            })}
          </Stack>
          <PersonMenu />
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main className="frame-main" id="main">
        <LostConnection />
        {children}
      </AppShell.Main>
    </AppShell>
  );
}
