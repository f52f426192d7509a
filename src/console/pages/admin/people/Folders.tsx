import { Button, Group, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { Folder } from "../../../api/interface.d.ts";
import { memberQuery, useMay } from "../../../api/session.ts";
import { FormDialog, useConfirmation } from "../../../parts/elements/actions.tsx";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { AccessDialog } from "../../../parts/items/access/Access.tsx";
import { FolderRights } from "./FolderRights.tsx";
import { foldersQuery } from "./queries.ts";

const peopleOf = ({ owners, extra_perms }: Folder): string => {
  const others = Object.entries(extra_perms).filter(([who]) => !owners.includes(who));
  const write = others.filter(([, canWrite]) => canWrite).map(([who]) => who);
  const read = others.filter(([, canWrite]) => !canWrite).map(([who]) => who);
  return [
    owners.length > 0 && `owned by ${owners.join(", ")}`,
    write.length > 0 && `written by ${write.join(", ")}`,
    read.length > 0 && `read by ${read.join(", ")}`,
  ]
    .filter(Boolean)
    .join("; ");
};

export function Folders({ workspace }: { workspace: string }) {
  const may = useMay(workspace);
  const mayCreate = may("POST /w/{workspace}/folders/create", "author");
  const mayUpdate = may("POST /w/{workspace}/folders/update/{name}", "author");
  const member = useQuery(memberQuery(workspace)).data;
  const folders = useQuery(foldersQuery(workspace));
  const [isCreating, setCreating] = useState(false);
  const [name, setName] = useState("");
  const [summary, setSummary] = useState("");
  const [shown, setShown] = useState<string>();
  const [asked, setAsked] = useState<string>();
  const { ask, dialog } = useConfirmation();
  const mayChange = (folder: Folder) =>
    mayUpdate &&
    member !== undefined &&
    (member.is_admin || member.is_super_admin || member.folders_owners.includes(folder.name));
  const remove = (folder: string) =>
    ask({
      title: `Delete the folder ${folder}?`,
      text: `Items in f/${folder} are kept, and only admins can see them.`,
      label: "Delete",
      name: folder,
      action: async () => {
        await callOperation("DELETE /w/{workspace}/folders/delete/{name}", { workspace, name: folder });
        return `The folder ${folder} was deleted`;
      },
    });
  const columns: Column<Folder>[] = [
    {
      name: "Folder",
      width: "minmax(0, 1fr)",
      cell: ({ name: folder, summary, display_name }) => (
        <>
          <div style={{ fontWeight: 500 }}>f/{folder}</div>
          <div className="quiet">{summary || (display_name !== folder && display_name)}</div>
        </>
      ),
    },
    {
      name: "Access",
      width: "minmax(0, 1.5fr)",
      cell: (folder) => <span className="quiet">{peopleOf(folder) || "admins only"}</span>,
    },
    {
      name: "",
      width: "2rem",
      cell: (folder) => (
        <RowMenu
          of={folder.name}
          entries={[
            { label: "Who may use it", onClick: () => setAsked(folder.name) },
            mayChange(folder) && { label: "Change rights", onClick: () => setShown(folder.name) },
            mayChange(folder) && { label: "Delete", onClick: () => remove(folder.name), isDangerous: true },
          ]}
        />
      ),
    },
  ];
  if (folders.error) return <Problem error={folders.error} retry={() => void folders.refetch()} />;
  if (!folders.data) return <Loading />;
  const rights = folders.data.find((folder) => folder.name === shown);
  const isEmpty = folders.data.length === 0;
  const create = mayCreate && <Button onClick={() => setCreating(true)}>New folder</Button>;
  return (
    <>
      {create && !isEmpty && (
        <Group justify="flex-end" mb="sm">
          {create}
        </Group>
      )}
      {isEmpty ? (
        <Empty title="No folders yet" action={create} command={mayCreate && "svc folder create finance"}>
          A folder contains scripts, flows, secrets and schedules that belong together, and defines who may
          see and change them.
        </Empty>
      ) : (
        <DataTable label="Folders" columns={columns} rows={folders.data} keyOf={(folder) => folder.name} />
      )}
      <FormDialog
        title="New folder"
        opened={isCreating}
        close={() => setCreating(false)}
        label="Create"
        isReady={name !== ""}
        action={async () => {
          await callOperation("POST /w/{workspace}/folders/create", { workspace, body: { name, summary } });
          setName("");
          setSummary("");
          return `The folder ${name} was created`;
        }}
      >
        <TextInput
          data-autofocus
          label="Name"
          description="Letters, digits, _ and -. You will own it."
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
        />
        <TextInput
          label="Description"
          value={summary}
          onChange={(event) => setSummary(event.currentTarget.value)}
        />
      </FormDialog>
      <AccessDialog workspace={workspace} kind="folder" path={asked} close={() => setAsked(undefined)} />
      {rights && <FolderRights workspace={workspace} folder={rights} close={() => setShown(undefined)} />}
      {dialog}
    </>
  );
}
