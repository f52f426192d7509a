import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";

export interface MenuEntry {
  label: string;
  onClick: () => void;
  isDangerous?: boolean;
}

/** Menu of a row's actions; renders nothing without actions. */
export function RowMenu({ of, entries }: { of: string; entries: (MenuEntry | false | undefined)[] }) {
  const shown = entries.filter((entry) => entry !== false && entry !== undefined);
  if (shown.length === 0) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`More for ${of}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {shown.map(({ label, onClick, isDangerous }) => (
          <Menu.Item key={label} onClick={onClick} {...(isDangerous ? { className: "dangerous" } : {})}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
