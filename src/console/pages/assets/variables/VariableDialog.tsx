import { Checkbox, PasswordInput, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { ListableVariable } from "../../../api/interface.d.ts";
import { FormDialog } from "../../../parts/elements/actions.tsx";

interface Props {
  workspace: string;
  /** Undefined for a new one. */
  variable: ListableVariable | undefined;
  prefix: string;
  opened: boolean;
  close: () => void;
}

/** Form of a variable. The value of a secret is never loaded; it can only be replaced. */
export function VariableDialog({ workspace, variable, prefix, opened, close }: Props) {
  const [path, setPath] = useState(variable?.path ?? prefix);
  const [isSecret, setSecret] = useState(variable?.is_secret ?? true);
  const [value, setValue] = useState(variable?.is_secret ? "" : (variable?.value ?? ""));
  const [description, setDescription] = useState(variable?.description ?? "");
  const isKept = variable?.is_secret === true && value === "";
  const isSame = variable?.is_secret === false && value === variable.value;
  const save = async () => {
    if (variable) {
      const body = {
        ...(path === variable.path ? {} : { path }),
        ...(isKept ? {} : { is_secret: isSecret }),
        ...(isKept || isSame ? {} : { value }),
        ...(description === variable.description ? {} : { description }),
      };
      await callOperation("POST /w/{workspace}/variables/update/{path}", {
        workspace,
        path: variable.path,
        body,
      });
    } else {
      const body = { path, value, is_secret: isSecret, description };
      await callOperation("POST /w/{workspace}/variables/create", { workspace, body });
    }
    setValue("");
    return `${path} is saved`;
  };
  const common = {
    label: variable?.is_secret ? "New value" : "Value",
    value,
    autoComplete: "off",
    onChange: (event: { currentTarget: { value: string } }) => setValue(event.currentTarget.value),
  };
  return (
    <FormDialog
      title={variable ? `Edit ${variable.path}` : "New variable"}
      opened={opened}
      close={close}
      action={save}
      label="Save"
      isReady={path !== "" && !path.endsWith("/")}
    >
      <TextInput
        required
        label="Path"
        description="Its folder decides who may use it."
        value={path}
        onChange={(event) => setPath(event.currentTarget.value)}
      />
      <Checkbox
        label="It is a secret"
        description="Stored encrypted, and hidden in lists, logs and results. Each access is recorded in the audit log."
        checked={isSecret}
        disabled={variable?.is_secret === true && value === ""}
        onChange={(event) => setSecret(event.currentTarget.checked)}
      />
      {isSecret ? (
        <PasswordInput
          {...common}
          {...(variable?.is_secret ? { description: "If left empty, the value is not changed." } : {})}
        />
      ) : (
        <Textarea {...common} autosize maxRows={12} />
      )}
      <Textarea
        label="Description"
        autosize
        maxRows={6}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
