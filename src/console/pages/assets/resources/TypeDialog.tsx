import { JsonInput, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { ResourceType } from "../../../api/interface.d.ts";
import { parseJson, writeJson } from "../../../api/json.ts";
import { FormDialog } from "../../../parts/elements/actions.tsx";

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
      await callOperation("POST /w/{workspace}/resources/type/update/{name}", {
        workspace,
        name: type.name,
        body,
      });
    } else {
      await callOperation("POST /w/{workspace}/resources/type/create", {
        workspace,
        body: { ...body, name },
      });
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

/** Provides the dialog that creates and edits types, and a function that opens it. */
export function useTypeDialog(workspace: string): {
  edit: (type: ResourceType | undefined) => void;
  dialog: ReactNode;
} {
  const [edited, setEdited] = useState<{ type: ResourceType | undefined; key: number }>();
  const [opened, setOpened] = useState(false);
  const edit = (type: ResourceType | undefined) => {
    setEdited({ type, key: (edited?.key ?? 0) + 1 });
    setOpened(true);
  };
  const dialog = edited && (
    <TypeDialog
      key={edited.key}
      workspace={workspace}
      type={edited.type}
      opened={opened}
      close={() => setOpened(false)}
    />
  );
  return { edit, dialog };
}
