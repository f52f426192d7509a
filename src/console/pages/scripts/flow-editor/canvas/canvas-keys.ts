/** Keyboard shortcuts while a step has the focus. */
import { type KeyboardEvent, type RefObject, useCallback } from "react";
import { flushSync } from "react-dom";
import { copyText, pasteText } from "../../../../parts/calling/clipboard.ts";
import { notifyError } from "../../../../parts/elements/Problem.tsx";
import { parseSteps, toClipboard } from "../model/clipboard.ts";
import {
  duplicateSteps,
  findStepAfterRemoval,
  insertSteps,
  listOutermost,
  nudgeStep,
  removeSteps,
} from "../model/commands.ts";
import { findSlotAfter, type PlacedStep, ROOT, type Slot } from "../model/steps.ts";
import type { FlowEditorState } from "../use-flow-editor.ts";

interface Now {
  editor: FlowEditorState;
  steps: PlacedStep[];
  insertAt: (slot: Slot) => void;
}

/** Shown in the page's list of shortcuts. */
export const CANVAS_KEYS: [keys: string, what: string][] = [
  ["↑ ↓", "Previous step, next step"],
  ["Enter", "Show the step"],
  ["← →", "Hide, show the steps in it"],
  ["Shift + ↑ ↓", "Select more, or fewer"],
  ["Ctrl + A, Escape", "Select all, none"],
  ["Alt + ↑ ↓", "Move the step"],
  ["I, Shift + I", "Insert a step after it, before it"],
  ["Delete", "Delete"],
  ["Ctrl + C, X, V, D", "Copy, cut, paste, duplicate"],
  ["Ctrl + Z, Shift + Ctrl + Z", "Undo, redo"],
];

/** Returns the position after the last selected step, or at the end of the flow. */
export function findInsertionSlot({ selection, open, flow }: FlowEditorState, steps: PlacedStep[]): Slot {
  const last = steps.findLast(({ key }) => selection.has(key) || key === open);
  const after = last && findSlotAfter(last);
  const modules = flow.value.modules;
  return after ?? { list: ROOT, index: Array.isArray(modules) ? modules.length : 0 };
}

/** Returns the position before a step; for a step outside of lists, the beginning of the flow. */
function findSlotBefore(key: string, steps: PlacedStep[]): Slot {
  const placed = steps.find((each) => each.key === key);
  const after = placed && findSlotAfter(placed);
  return after ? { list: after.list, index: after.index - 1 } : { list: ROOT, index: 0 };
}

/** Returns the steps from one to another, in the order of the flow, with the anchor of further ranges first. */
export function listStepRange(steps: PlacedStep[], anchor: string, to: string): string[] {
  const keys = steps.map(({ key }) => key);
  const [a, b] = [keys.indexOf(anchor), keys.indexOf(to)];
  if (a < 0 || b < 0) return [to];
  const between = keys.slice(Math.min(a, b), Math.max(a, b) + 1);
  return [anchor, ...between.filter((key) => key !== anchor)];
}

export async function copySteps({ flow, selection }: FlowEditorState): Promise<void> {
  await copyText(toClipboard(listOutermost(flow, selection)));
}

function removeSelected(editor: FlowEditorState, label = "Delete"): void {
  const { selection } = editor;
  editor.edit(label, (flow) => removeSteps(flow, selection));
}

export async function pasteSteps(editor: FlowEditorState, steps: PlacedStep[]): Promise<void> {
  const found = parseSteps(await pasteText());
  if (!found) throw new Error("The clipboard holds no steps: copy some of a flow, here or from a file.");
  const slot = findInsertionSlot(editor, steps);
  editor.edit("Paste", (flow) => insertSteps(flow, slot, found));
}

/** Focuses the card of a step, if it is rendered. */
export const focusStep = (key: string) =>
  document.querySelector<HTMLElement>(`.step[data-step="${CSS.escape(key)}"]`)?.focus();

/** Changes the flow and focuses a card at once, so that the next key, however soon it comes, acts on that step. */
function changeAndFocus(change: () => void, key: string | undefined): void {
  flushSync(change);
  if (key !== undefined) focusStep(key);
}

/** Removes the selected steps and focuses the next card, or else the previous one, or where steps are added. */
export function removeAndFocusNext(editor: FlowEditorState, steps: PlacedStep[], label?: string): void {
  const next = findStepAfterRemoval(steps, editor.selection);
  changeAndFocus(() => removeSelected(editor, label), next);
  if (next === undefined) document.querySelector<HTMLElement>(".flow-editor-canvas .slot")?.focus();
}

export function useCanvasKeys(now: RefObject<Now>) {
  return useCallback(
    (event: KeyboardEvent<HTMLDivElement>) => {
      const key = (event.target as HTMLElement).closest<HTMLElement>(".step")?.dataset.step;
      const act = key === undefined ? undefined : findAction(event, now.current, key);
      if (!act) return;
      event.preventDefault();
      void Promise.resolve(act()).catch(notifyError);
    },
    [now],
  );
}

/** Returns the action of a key, if it has one. */
function findAction(event: KeyboardEvent, { editor, steps, insertAt }: Now, key: string) {
  const { ctrlKey, metaKey, altKey, shiftKey } = event;
  const isCommand = ctrlKey || metaKey;
  // Without a selection, the focused step is meant.
  const own = editor.selection.has(key) ? editor : { ...editor, selection: new Set([key]), open: key };
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (isCommand) {
    switch (pressed) {
      case "c":
        return () => copySteps(own);
      case "x":
        return async () => {
          await copySteps(own);
          removeAndFocusNext(own, steps, "Cut");
        };
      case "v":
        return () => pasteSteps(own, steps);
      case "a":
        return () =>
          editor.select(
            steps.map((each) => each.key),
            key,
          );
      case "d":
        return () => editor.edit("Duplicate", (flow) => duplicateSteps(flow, own.selection));
      default:
        return undefined;
    }
  }
  const by = pressed === "ArrowDown" ? 1 : pressed === "ArrowUp" ? -1 : undefined;
  if (by !== undefined && altKey) {
    return () => changeAndFocus(() => editor.edit("Move", (flow) => nudgeStep(flow, key, by)), key);
  }
  if (by !== undefined && shiftKey) {
    return () => {
      const next = steps[steps.findIndex((each) => each.key === key) + by];
      if (!next) return;
      const [anchor = key] = own.selection;
      changeAndFocus(() => editor.select(listStepRange(steps, anchor, next.key), next.key), next.key);
    };
  }
  switch (pressed) {
    case "Delete":
    case "Backspace":
      return () => removeAndFocusNext(own, steps);
    case "Escape":
      return () => editor.select([]);
    case "Insert":
    case "i":
      return () => insertAt(shiftKey ? findSlotBefore(key, steps) : findInsertionSlot(own, steps));
    default:
      return undefined;
  }
}
