/** Form fields that accept variables of the workspace. */
import { ActionIcon, PasswordInput, Popover, Select, TextInput, Tooltip } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { IconBraces } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../api/call.ts";
import { useWorkspace } from "../navigation/places.ts";
import { isPassword } from "./prepare.ts";

const VARIABLE_PREFIX = "$var:";
const MAX_VARIABLES = 1_000;

/**
 * Field for text or a password, which may also come from a variable: then the run reads it, and the arguments do not
 * contain it.
 */
export function VariableWidget(props: WidgetProps) {
  const { id, label, required, disabled, readonly, value, onChange, schema, rawErrors, options, type } =
    props;
  const text = typeof value === "string" ? value : "";
  const isSecret = isPassword(schema) && !text.startsWith(VARIABLE_PREFIX);
  const common = {
    id,
    label: label || undefined,
    required: Boolean(required),
    disabled: Boolean(disabled || readonly),
    description: schema.description,
    error: rawErrors?.join(", "),
    value: text,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange(currentTarget.value === "" ? options.emptyValue : currentTarget.value),
  };
  const picker = <VariablePicker take={(path) => onChange(VARIABLE_PREFIX + path)} />;
  if (isSecret) {
    return <PasswordInput {...common} autoComplete="off" leftSection={picker} />;
  }
  return <TextInput {...common} type={type === "email" ? "email" : "text"} rightSection={picker} />;
}

function VariablePicker({ take }: { take: (path: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={300} trapFocus returnFocus>
      <Popover.Target>
        <Tooltip label="Take it from a variable">
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label="Take it from a variable"
            onClick={() => setOpen(!isOpen)}
          >
            <IconBraces size={14} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown>
        <Variables
          take={(path) => {
            take(path);
            setOpen(false);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

function Variables({ take }: { take: (path: string) => void }) {
  const workspace = useWorkspace();
  const variables = useQuery({
    queryKey: [workspace, "variables", "names"],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/variables/list",
        { workspace, query: { per_page: MAX_VARIABLES } },
        signal,
      ),
  }).data;
  return (
    <Select
      label="Variable"
      description="The value is read by the run, and is not stored in its arguments."
      searchable
      limit={100}
      placeholder="Path"
      nothingFoundMessage="No variable has this path."
      comboboxProps={{ withinPortal: false }}
      data={(variables ?? []).map(({ path, is_secret }) => ({
        value: path,
        label: is_secret ? `${path} (secret)` : path,
      }))}
      onChange={(path) => path && take(path)}
    />
  );
}
