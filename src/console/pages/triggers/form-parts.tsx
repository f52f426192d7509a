/** Parts shared by the forms of schedules and triggers. */
import { Button, Group, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { allowLeaving } from "../../api/leaving.ts";
import { Problem } from "../../parts/elements/Problem.tsx";
import { useLeaveWarning } from "../../parts/form/leave-warning.ts";
import type { RunnableRef } from "../../parts/form/RunnableInput.tsx";

/** Returns the script or flow of an existing trigger, or the one proposed in the address. */
export const getInitialRunnable = (
  existing: { is_flow: boolean; script_path: string } | undefined,
  initial: RunnableRef | undefined,
): RunnableRef | undefined =>
  existing ? { kind: existing.is_flow ? "flow" : "script", path: existing.script_path } : initial;

export interface Naming {
  path: string;
  summary: string;
  description: string;
}

/** Provides the fields for path, summary and description of an item. */
export function useNaming(
  path: string,
  existing: { summary?: string | null; description?: string | null } | undefined,
) {
  const [naming, setNaming] = useState<Naming>({
    path,
    summary: existing?.summary ?? "",
    description: existing?.description ?? "",
  });
  const fieldProps = (name: keyof Naming) => ({
    value: naming[name],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setNaming((before) => ({ ...before, [name]: value }));
    },
  });
  return {
    naming,
    isNamed: naming.path !== "" && !naming.path.endsWith("/"),
    pathField: (
      <TextInput
        required
        label="Path"
        description="Its folder decides who sees and changes it."
        {...fieldProps("path")}
      />
    ),
    summaryField: <TextInput label="Summary" {...fieldProps("summary")} />,
    descriptionField: <Textarea label="Description" autosize {...fieldProps("description")} />,
  };
}

interface FooterProps {
  save: { error: Error | null; isPending: boolean };
  isComplete: boolean;
  /** Label of the save button. */
  label: string;
  /** Address of the page to return to. */
  leave: string;
  /** Values of all fields. */
  values: unknown;
  /** Values of fields that are loaded later, undefined until then. */
  late?: unknown;
}

/** End of a form: error message and buttons. */
export function FormFooter({ save, isComplete, label, leave, values, late }: FooterProps) {
  useLeaveWarning(values, late);
  return (
    <>
      {save.error && <Problem error={save.error} />}
      <Group>
        <Button type="submit" loading={save.isPending} disabled={!isComplete}>
          {label}
        </Button>
        <Button variant="default" component={Link} href={leave} onClick={allowLeaving}>
          Cancel
        </Button>
      </Group>
    </>
  );
}
