import { type MantineColorScheme, Menu, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import {
  IconBook,
  IconKeyboard,
  IconLogout,
  IconPlayerPause,
  IconPlayerPlay,
  IconUserCircle,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { removeUserStorage, toServerPath } from "../api/base.ts";
import { callOperation } from "../api/call.ts";
import { setPaused, usePaused } from "../api/live.ts";
import { whoamiQuery } from "../api/session.ts";
import { notifyError } from "../parts/elements/Problem.tsx";
import { showShortcuts } from "./Shortcuts.tsx";

async function signOut(email: string | undefined): Promise<void> {
  await callOperation("POST /auth/logout", {}).catch(notifyError);
  if (email !== undefined) removeUserStorage(email);
  // A full page load drops all cached data of this user.
  location.assign(toServerPath("login"));
}

export function PersonMenu() {
  const me = useQuery(whoamiQuery).data;
  const paused = usePaused();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu width={232} position="top-start" closeOnItemClick={false}>
      <Menu.Target>
        <UnstyledButton className="nav-link" style={{ display: "flex", alignItems: "center", gap: "0.6rem" }}>
          <IconUserCircle size={20} aria-hidden style={{ flex: "none" }} />
          <Text className="clip" style={{ flex: 1 }}>
            {me?.email ?? ""}
          </Text>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Colors</Menu.Label>
        <div role="group" aria-label="Colors">
          <Menu.RadioGroup
            value={colorScheme}
            onChange={(value) => setColorScheme(value as MantineColorScheme)}
          >
            <Menu.RadioItem value="light">Light</Menu.RadioItem>
            <Menu.RadioItem value="dark">Dark</Menu.RadioItem>
            <Menu.RadioItem value="auto">As the system</Menu.RadioItem>
          </Menu.RadioGroup>
        </div>
        <Menu.Divider />
        <Menu.Item
          leftSection={paused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
          onClick={() => setPaused(!paused)}
        >
          {paused ? "Resume live updates" : "Pause live updates"}
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} />} closeMenuOnClick onClick={showShortcuts}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          leftSection={<IconBook size={16} />}
          component="a"
          href={toServerPath("api/docs")}
          target="_blank"
        >
          Reference of the API
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut(me?.email)}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
