/** Actions on the flow and on the selected steps, as an alternative to shortcuts. */
import { ActionIcon, Button, Menu, Modal, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconArrowForwardUp, IconDots, IconPlus, IconSettings } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { toServerPath } from "../../../../api/base.ts";
import { isRecord } from "../../../../api/json.ts";
import { memberQuery } from "../../../../api/session.ts";
import { copyText } from "../../../../parts/calling/clipboard.ts";
import { useAction } from "../../../../parts/elements/actions.tsx";
import { listBodies } from "../../../../parts/flow/tree.ts";
import { linkTo } from "../../../../parts/navigation/places.ts";
import { useEditorContext } from "../context.ts";
import {
  addSpecialStep,
  duplicateSteps,
  nudgeStep,
  unwrapStep,
  type WrapperType,
  wrapSteps,
} from "../model/commands.ts";
import { listSteps, type Slot } from "../model/steps.ts";
import type { FlowEditorState } from "../use-flow-editor.ts";
import { CANVAS_KEYS, copySteps, findInsertionSlot, pasteSteps, removeAndFocusNext } from "./canvas-keys.ts";

const WRAPPINGS: [WrapperType, string][] = [
  ["forloopflow", "Put into a for-each loop"],
  ["whileloopflow", "Put into a while loop"],
  ["branchone", "Put into a branch"],
  ["branchall", "Put into parallel branches"],
];

interface Props {
  editor: FlowEditorState;
  insertAt: (slot: Slot) => void;
}

export function Toolbar({ editor, insertAt }: Props) {
  const { flow, selection, history } = editor;
  const { workspace } = useEditorContext();
  const { act } = useAction();
  const username = useQuery(memberQuery(workspace)).data?.username;
  const [areKeysShown, setKeysShown] = useState(false);
  /** Whether the menu of the step gives the focus back to its button: not if a card has got it. */
  const [returnsFocus, setReturnsFocus] = useState(true);
  const steps = listSteps(flow);
  const [only] = selection.size === 1 ? selection : [];
  const chosen = steps.find(({ key }) => key === only);
  const isNone = selection.size === 0;
  const last = history.done.at(-1);
  const next = history.undone.at(-1);
  return (
    <div className="flow-editor-tools" role="toolbar" aria-label="Edit the flow">
      <Button
        size="xs"
        leftSection={<IconPlus size={14} />}
        onClick={() => insertAt(findInsertionSlot(editor, steps))}
      >
        Add a step
      </Button>
      <Tool label={last ? `Undo: ${last.label}` : "Undo"} disabled={!last} act={editor.undo}>
        <IconArrowBackUp size={16} />
      </Tool>
      <Tool label={next ? `Redo: ${next.label}` : "Redo"} disabled={!next} act={editor.redo}>
        <IconArrowForwardUp size={16} />
      </Tool>
      <Menu position="bottom-start" returnFocus={returnsFocus} onOpen={() => setReturnsFocus(true)}>
        <Menu.Target>
          <Button size="xs" variant="default" rightSection={<IconDots size={14} />}>
            {selection.size > 1 ? `${selection.size} steps` : "Step"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            disabled={isNone}
            onClick={() => editor.edit("Duplicate", (before) => duplicateSteps(before, selection))}
          >
            Duplicate
          </Menu.Item>
          <Menu.Item
            disabled={isNone}
            onClick={() =>
              act(async () => {
                await copySteps(editor);
                return "Copied: paste it into any flow, or into a file.";
              })
            }
          >
            Copy
          </Menu.Item>
          <Menu.Item
            onClick={() =>
              act(async () => {
                await pasteSteps(editor, steps);
                return undefined;
              })
            }
          >
            Paste
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            disabled={!only}
            onClick={() => editor.edit("Move", (before) => nudgeStep(before, only!, -1))}
          >
            Move up
          </Menu.Item>
          <Menu.Item
            disabled={!only}
            onClick={() => editor.edit("Move", (before) => nudgeStep(before, only!, 1))}
          >
            Move down
          </Menu.Item>
          {WRAPPINGS.map(([kind, label]) => (
            <Menu.Item
              key={kind}
              disabled={isNone}
              onClick={() =>
                editor.edit(label, (before) => {
                  const [after, id] = wrapSteps(before, selection, kind);
                  return [after, [id]];
                })
              }
            >
              {label}
            </Menu.Item>
          ))}
          {chosen && listBodies(chosen.step).length > 0 && (
            <Menu.Item
              onClick={() => editor.edit("Remove the loop or branch", (before) => unwrapStep(before, only!))}
            >
              Remove it, keep its steps
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            className="dangerous"
            disabled={isNone}
            onClick={() => {
              setReturnsFocus(false);
              removeAndFocusNext(editor, steps);
            }}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button size="xs" variant="default" leftSection={<IconSettings size={14} />}>
            Flow
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => editor.select([])}>Settings and inputs</Menu.Item>
          <Menu.Item
            disabled={isRecord(flow.value.failure_module)}
            onClick={() => editor.edit("Add failure step", (before) => addSpecialStep(before, "failure"))}
          >
            Add a step for failures
          </Menu.Item>
          <Menu.Item
            disabled={isRecord(flow.value.preprocessor_module)}
            onClick={() =>
              editor.edit("Add preprocessor", (before) => addSpecialStep(before, "preprocessor"))
            }
          >
            Add a preprocessor
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            disabled={username === undefined}
            onClick={() =>
              act(async () => {
                const address = toServerPath(linkTo.review(workspace, flow.path, username!).slice(1));
                await copyText(new URL(address, window.location.href).href);
                return "Link copied. Everyone who can read the flow can see the changes of your draft there.";
              })
            }
          >
            Copy a link to the changes
          </Menu.Item>
          <Menu.Item onClick={() => setKeysShown(true)}>Keyboard shortcuts</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={areKeysShown} onClose={() => setKeysShown(false)} title="Keyboard shortcuts">
        {CANVAS_KEYS.map(([keys, what]) => (
          <div key={keys} className="line">
            <span className="mono" style={{ flex: "0 0 12rem" }}>
              {keys}
            </span>
            {what}
          </div>
        ))}
      </Modal>
    </div>
  );
}

interface ToolProps {
  label: string;
  disabled: boolean;
  act: () => void;
  children: React.ReactNode;
}

const Tool = ({ label, disabled, act, children }: ToolProps) => (
  <Tooltip label={label}>
    <ActionIcon variant="default" size={30} aria-label={label} disabled={disabled} onClick={act}>
      {children}
    </ActionIcon>
  </Tooltip>
);
