import { Button, Group as Line, MultiSelect, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { Group } from "../../../api/interface.d.ts";
import { useMayManage } from "../../../api/item-rights.ts";
import { useMay } from "../../../api/session.ts";
import { FormDialog, useConfirmation } from "../../../parts/elements/actions.tsx";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { groupQuery, groupsQuery, membersQuery, usernamesQuery } from "./queries.ts";

/** The group that contains all members. */
const ALL = "all";

export function Groups({ workspace }: { workspace: string }) {
  const mayCreate = useMay(workspace)("POST /w/{workspace}/groups/create", "author");
  const mayManage = useMayManage(workspace);
  const groups = useQuery(groupsQuery(workspace));
  const members = useQuery(membersQuery(workspace)).data ?? [];
  const [edited, setEdited] = useState<Group | "new">();
  const { ask, dialog } = useConfirmation();
  const remove = (name: string) =>
    ask({
      title: `Delete the group ${name}?`,
      text: "Its members keep their accounts and lose the permissions of the group.",
      label: "Delete",
      action: async () => {
        await callOperation("DELETE /w/{workspace}/groups/delete/{name}", { workspace, name });
        return `The group ${name} was deleted`;
      },
    });
  const columns: Column<Group>[] = [
    {
      name: "Group",
      width: "minmax(0, 1fr)",
      cell: ({ name, summary }) => (
        <>
          <div style={{ fontWeight: 500 }}>{name}</div>
          <div className="quiet">{name === ALL && !summary ? "Everybody in this workspace" : summary}</div>
        </>
      ),
    },
    {
      name: "Members",
      width: "minmax(0, 1.5fr)",
      cell: ({ name }) => {
        const inIt = members.filter(({ groups: all }) => all.includes(name)).map(({ username }) => username);
        return <span className="quiet">{name === ALL ? "everybody" : inIt.join(", ") || "nobody yet"}</span>;
      },
    },
    {
      name: "",
      width: "2rem",
      cell: (group) =>
        mayManage(group) &&
        group.name !== ALL && (
          <RowMenu
            of={group.name}
            entries={[
              { label: "Change members", onClick: () => setEdited(group) },
              { label: "Delete", onClick: () => remove(group.name), isDangerous: true },
            ]}
          />
        ),
    },
  ];
  if (groups.error) return <Problem error={groups.error} retry={() => void groups.refetch()} />;
  if (!groups.data) return <Loading />;
  const isEmpty = groups.data.length === 0;
  const create = mayCreate && <Button onClick={() => setEdited("new")}>New group</Button>;
  return (
    <>
      {create && !isEmpty && (
        <Line justify="flex-end" mb="sm">
          {create}
        </Line>
      )}
      {isEmpty ? (
        <Empty title="No groups yet" action={create} command={mayCreate && "svc group create support"}>
          A group gives permissions to several users at once: on folders, and on single scripts and flows.
        </Empty>
      ) : (
        <DataTable label="Groups" columns={columns} rows={groups.data} keyOf={({ name }) => name} />
      )}
      {edited && (
        <GroupDialog
          key={edited === "new" ? "" : edited.name}
          workspace={workspace}
          {...(edited === "new" ? {} : { name: edited.name })}
          close={() => setEdited(undefined)}
        />
      )}
      {dialog}
    </>
  );
}

function GroupDialog({ workspace, name, close }: { workspace: string; name?: string; close: () => void }) {
  const group = useQuery({ ...groupQuery(workspace, name ?? ""), enabled: name !== undefined });
  if (name === undefined) return <GroupForm workspace={workspace} close={close} />;
  if (!group.data) return null;
  return <GroupForm workspace={workspace} group={group.data} close={close} />;
}

function GroupForm({ workspace, group, close }: { workspace: string; group?: Group; close: () => void }) {
  const names = useQuery(usernamesQuery(workspace)).data ?? [];
  const [name, setName] = useState(group?.name ?? "");
  const [summary, setSummary] = useState(group?.summary ?? "");
  const before = group?.members ?? [];
  const [members, setMembers] = useState(before);
  const save = async () => {
    if (!group)
      await callOperation("POST /w/{workspace}/groups/create", { workspace, body: { name, summary } });
    else if (summary !== group.summary) {
      await callOperation("POST /w/{workspace}/groups/update/{name}", { workspace, name, body: { summary } });
    }
    for (const username of members.filter((each) => !before.includes(each))) {
      await callOperation("POST /w/{workspace}/groups/adduser/{name}", {
        workspace,
        name,
        body: { username },
      });
    }
    for (const username of before.filter((each) => !members.includes(each))) {
      await callOperation("POST /w/{workspace}/groups/removeuser/{name}", {
        workspace,
        name,
        body: { username },
      });
    }
    return group ? undefined : `The group ${name} was created`;
  };
  return (
    <FormDialog
      title={group ? `Group ${group.name}` : "New group"}
      opened
      close={close}
      action={save}
      label={group ? "Save" : "Create"}
      isReady={name.trim() !== ""}
    >
      {!group && (
        <TextInput
          data-autofocus
          label="Name"
          description="Letters, digits, _ and -"
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
        />
      )}
      <TextInput
        label="Description"
        value={summary}
        onChange={(event) => setSummary(event.currentTarget.value)}
      />
      <MultiSelect
        label="Members"
        searchable
        selectFirstOptionOnChange
        nothingFoundMessage="Nobody in this workspace has this name."
        data={[...new Set([...names, ...members])]}
        value={members}
        onChange={setMembers}
      />
      <Text c="dimmed" fz="xs">
        In permissions, the group is written as g/{name || "name"}.
      </Text>
    </FormDialog>
  );
}
