import { Autocomplete, Button, Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { Folder } from "../../../api/interface.d.ts";
import { FormDialog } from "../../../parts/elements/actions.tsx";
import { groupsQuery, usernamesQuery } from "./queries.ts";

type Right = "owner" | "write" | "read";

const RIGHTS: { value: Right; label: string }[] = [
  { value: "read", label: "sees and runs" },
  { value: "write", label: "edits too" },
  { value: "owner", label: "owns" },
];

const rightsOf = ({ owners, extra_perms }: Folder): Map<string, Right> => {
  const rights = new Map<string, Right>();
  for (const [who, canWrite] of Object.entries(extra_perms)) rights.set(who, canWrite ? "write" : "read");
  for (const who of owners) rights.set(who, "owner");
  return rights;
};

const same = (a: Map<string, Right>, b: Map<string, Right>) =>
  a.size === b.size && [...a].every(([who, right]) => b.get(who) === right);

interface Props {
  workspace: string;
  folder: Folder;
  close: () => void;
}

/** Rights of users and groups to a folder; all are stored together. */
export function FolderRights({ workspace, folder, close }: Props) {
  const [known, setKnown] = useState(() => rightsOf(folder));
  const [rights, setRights] = useState(known);
  const [who, setWho] = useState("");
  const users = useQuery(usernamesQuery(workspace)).data ?? [];
  const groups = useQuery(groupsQuery(workspace)).data ?? [];
  const others = [...users.map((name) => `u/${name}`), ...groups.map(({ name }) => `g/${name}`)];
  const set = (name: string, right: Right | undefined) => {
    const next = new Map(rights);
    if (right) next.set(name, right);
    else next.delete(name);
    setRights(next);
  };
  const save = async () => {
    const current = rightsOf(
      await callOperation("GET /w/{workspace}/folders/get/{name}", { workspace, name: folder.name }),
    );
    if (!same(current, known)) {
      setKnown(current);
      setRights(current);
      throw new Error(
        "Somebody else has changed these rights in the meantime. The new rights are shown: make your change again.",
      );
    }
    const owners = [...rights].filter(([, right]) => right === "owner").map(([name]) => name);
    const extra_perms = Object.fromEntries([...rights].map(([name, right]) => [name, right !== "read"]));
    const body = { owners, extra_perms };
    await callOperation("POST /w/{workspace}/folders/update/{name}", { workspace, name: folder.name, body });
    return `The rights on f/${folder.name} are saved`;
  };
  return (
    <FormDialog
      title={`Rights on f/${folder.name}`}
      opened
      close={close}
      action={save}
      label="Save"
      size="lg"
    >
      <Text c="dimmed">Workspace admins can always do everything.</Text>
      {[...rights].map(([name, right]) => (
        <Group key={name} justify="space-between" wrap="nowrap">
          <Text className="clip">{name}</Text>
          <Group gap="xs" wrap="nowrap">
            <Select
              aria-label={`Right of ${name}`}
              w={150}
              allowDeselect={false}
              data={RIGHTS}
              value={right}
              onChange={(value) => set(name, value as Right)}
            />
            <Button variant="subtle" color="red" size="xs" onClick={() => set(name, undefined)}>
              Remove
            </Button>
          </Group>
        </Group>
      ))}
      <Group align="flex-end" wrap="nowrap">
        <Autocomplete
          label="User or group"
          placeholder="u/ann or g/support"
          data={others.filter((name) => !rights.has(name))}
          value={who}
          onChange={setWho}
          style={{ flex: 1 }}
        />
        <Button
          variant="default"
          disabled={!others.includes(who) || rights.has(who)}
          onClick={() => {
            set(who, "read");
            setWho("");
          }}
        >
          Add
        </Button>
      </Group>
    </FormDialog>
  );
}
