import { Button, JsonInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import type { ResourceType } from "../../../api/interface.d.ts";
import { parseJson, writeJson } from "../../../api/json.ts";
import { useMay } from "../../../api/session.ts";
import { FormDialog, useQuestion } from "../../../parts/actions.tsx";
import { DataTable } from "../../../parts/DataTable.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { RowMenu } from "../../../parts/RowMenu.tsx";
import { typeList } from "./queries.ts";

/** Returns the names of a type's fields. */
const fieldsOf = (schema: unknown) =>
  Object.keys((schema as { properties?: Record<string, unknown> } | null)?.properties ?? {});

export function Types({ workspace }: { workspace: string }) {
  const list = useQuery(typeList(workspace));
  const may = useMay(workspace);
  const writes = may("POST /w/{workspace}/resources/type/create", "author");
  const [edited, setEdited] = useState<{ type: ResourceType | undefined; key: number }>();
  const [open, setOpen] = useState(false);
  const { ask, dialog } = useQuestion();
  if (list.error && !list.data) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading />;
  const edit = (type: ResourceType | undefined) => {
    setEdited({ type, key: (edited?.key ?? 0) + 1 });
    setOpen(true);
  };
  const remove = (name: string) =>
    ask({
      title: `Delete the type ${name}?`,
      text: "Its resources are kept, without a form.",
      label: "Delete",
      action: async () => {
        await call("DELETE /w/{workspace}/resources/type/delete/{name}", { workspace, name });
        return `${name} is deleted`;
      },
    });
  return (
    <>
      {writes && (
        <Button variant="default" mb="sm" onClick={() => edit(undefined)}>
          New type
        </Button>
      )}
      <DataTable
        label="Types"
        rows={list.data}
        keyOf={({ workspace_id, name }) => `${workspace_id} ${name}`}
        columns={[
          { name: "Type", width: "minmax(0, 1fr)", cell: ({ name }) => <b>{name}</b> },
          {
            name: "Fields",
            width: "minmax(0, 2fr)",
            cell: ({ schema }) => <div className="clip quiet">{fieldsOf(schema).join(", ")}</div>,
          },
          {
            name: "Description",
            width: "minmax(0, 2fr)",
            wideOnly: true,
            cell: ({ description }) => <div className="clip quiet">{description}</div>,
          },
          {
            name: "",
            width: "2rem",
            cell: (type) =>
              type.workspace_id === workspace && (
                <RowMenu
                  of={type.name}
                  entries={[
                    writes && { label: "Edit", onClick: () => edit(type) },
                    writes && { label: "Delete", onClick: () => remove(type.name), isDangerous: true },
                  ]}
                />
              ),
          },
        ]}
      />
      {edited && (
        <TypeDialog
          key={edited.key}
          workspace={workspace}
          type={edited.type}
          opened={open}
          close={() => setOpen(false)}
        />
      )}
      {dialog}
    </>
  );
}

interface DialogProps {
  workspace: string;
  type: ResourceType | undefined;
  opened: boolean;
  close: () => void;
}

const NEW_SCHEMA = {
  type: "object",
  properties: { url: { type: "string" }, token: { type: "string", format: "password" } },
  required: ["url"],
};

function TypeDialog({ workspace, type, opened, close }: DialogProps) {
  const [name, setName] = useState(type?.name ?? "");
  const [description, setDescription] = useState(type?.description ?? "");
  const [schema, setSchema] = useState(() => writeJson(type?.schema ?? NEW_SCHEMA, 2));
  const save = async () => {
    const body = { description, schema: parseJson(schema) };
    if (type) {
      await call("POST /w/{workspace}/resources/type/update/{name}", { workspace, name: type.name, body });
    } else {
      await call("POST /w/{workspace}/resources/type/create", { workspace, body: { ...body, name } });
    }
    return `${name} is saved`;
  };
  return (
    <FormDialog
      title={type ? `Edit ${type.name}` : "New type"}
      opened={opened}
      close={close}
      action={save}
      label="Save"
      size="lg"
      isReady={name !== ""}
    >
      {!type && (
        <TextInput
          required
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <Textarea
        label="Description"
        autosize
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <JsonInput
        required
        label="JSON Schema"
        description="A field with the format password is stored as a secret."
        autosize
        minRows={8}
        maxRows={24}
        className="mono-input"
        validationError="This is not valid JSON."
        value={schema}
        onChange={setSchema}
      />
    </FormDialog>
  );
}
