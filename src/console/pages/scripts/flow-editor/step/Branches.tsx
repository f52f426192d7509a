/** Names, conditions and order of a step's branches. */
import { ActionIcon, Button, Switch, TextInput } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconTrash } from "@tabler/icons-react";
import { type Fields, filterRecords } from "../../../../api/json.ts";
import { useEditorContext } from "../context.ts";
import { addBranch, moveBranch, removeBranch, setStepField } from "../model/commands.ts";
import type { PlacedStep } from "../model/steps.ts";
import { Expression } from "./Expression.tsx";

export function Branches({ placed }: { placed: PlacedStep }) {
  const { editor } = useEditorContext();
  const { key } = placed;
  const { type, branches } = placed.step.value as Fields;
  const list = filterRecords(branches);
  const set = (index: number, field: string, next: unknown) =>
    editor.edit(
      `Branch ${index + 1}`,
      (flow) => setStepField(flow, key, ["value", "branches", index, field], next),
      `${key}/branch/${index}/${field}`,
    );
  return (
    <div className="stack">
      {list.map((branch, index) => {
        const name = `branch ${index + 1}`;
        return (
          <div key={index} className="transform" role="group" aria-label={`Branch ${index + 1}`}>
            <div className="transform-head">
              <TextInput
                size="xs"
                style={{ flex: 1 }}
                aria-label={`Name of ${name}`}
                placeholder={`Branch ${index + 1}`}
                value={typeof branch.summary === "string" ? branch.summary : ""}
                onChange={(event) => set(index, "summary", event.currentTarget.value || undefined)}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Move ${name} up`}
                disabled={index === 0}
                onClick={() => editor.edit("Move branch", (flow) => moveBranch(flow, key, index, -1))}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Move ${name} down`}
                disabled={index === list.length - 1}
                onClick={() => editor.edit("Move branch", (flow) => moveBranch(flow, key, index, 1))}
              >
                <IconArrowDown size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={`Delete ${name} with its steps`}
                onClick={() => editor.edit("Delete branch", (flow) => removeBranch(flow, key, index))}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </div>
            {type === "branchone" ? (
              <Expression
                label={`Condition of ${name}`}
                of={key}
                value={typeof branch.expr === "string" ? branch.expr : ""}
                change={(expr) => set(index, "expr", expr)}
              />
            ) : (
              <Switch
                label="Go on when it fails"
                checked={branch.skip_failure === true}
                onChange={(event) => set(index, "skip_failure", event.currentTarget.checked || undefined)}
              />
            )}
          </div>
        );
      })}
      <Button
        variant="default"
        size="xs"
        w="fit-content"
        onClick={() => editor.edit("Add branch", (flow) => addBranch(flow, key))}
      >
        Add a branch
      </Button>
    </div>
  );
}
