import { Group, Text } from "@mantine/core";
import { Copy } from "../../../parts/calling/Copy.tsx";
import { Section } from "../settings/Section.tsx";

const COMMANDS = [
  {
    title: "Back up",
    command: "svc backup --with-key /mnt/safe/svc.backup",
    about:
      "Writes everything to one file while the server runs: the database, files that are stored in the data directory, and with --with-key the key of the instance. Without that key, secrets in the backup cannot be decrypted.",
  },
  {
    title: "Restore",
    command: "svc restore /mnt/safe/svc.backup --data-dir /var/lib/svc",
    about:
      "Stop the server first. A backup can be restored to SQLite or PostgreSQL, by this version or a later one.",
  },
];

/** Explains how to back up the instance. This works on its machine only, because the file contains all secrets. */
export function Backup() {
  return COMMANDS.map(({ title, command, about }) => (
    <Section key={title} title={title} about={about}>
      <Group wrap="nowrap">
        <Text component="code" className="mono wrap" style={{ flex: 1 }}>
          {command}
        </Text>
        <Copy text={command} />
      </Group>
    </Section>
  ));
}
