/** The canvas of the flow editor: steps, insertion points, and keyboard and drag handling. */
import { IconPlus } from "@tabler/icons-react";
import { type DragEvent, type MouseEvent, memo, useCallback, useMemo, useRef, useState } from "react";
import type { Decoration } from "../../../../parts/flow/Card.tsx";
import { Graph, type GraphEditing } from "../../../../parts/flow/Graph.tsx";
import { buildTree, reuseNodes, type StepPath, type Tree } from "../../../../parts/flow/tree.ts";
import { moveSteps } from "../model/commands.ts";
import { listSteps, type Slot } from "../model/steps.ts";
import type { FlowEditorState } from "../use-flow-editor.ts";
import { listStepRange, useCanvasKeys } from "./canvas-keys.ts";

interface Props {
  editor: FlowEditorState;
  /** Opens the dialog that asks what to insert there. */
  insertAt: (slot: Slot) => void;
  decorate: ((key: string) => Decoration | undefined) | undefined;
}

export function Canvas({ editor, insertAt, decorate }: Props) {
  const { flow, selection, open } = editor;
  const steps = useMemo(() => listSteps(flow), [flow]);
  const drawn = useRef<Tree>({ nodes: [], failure: undefined });
  const tree = useMemo(() => {
    const next = buildTree(flow.value, new Map(steps.map(({ step, key }) => [step, key])));
    drawn.current = reuseNodes(next, drawn.current);
    return drawn.current;
  }, [flow.value, steps]);
  // Handlers read the current state through one reference, so that a change of selection re-renders only the affected
  // cards.
  const now = useRef({ editor, steps, insertAt });
  now.current = { editor, steps, insertAt };
  const [isDragging, setDragging] = useState(false);

  const select = useCallback((key: string, event: MouseEvent) => {
    const { editor: current, steps: listed } = now.current;
    const [anchor] = current.selection;
    if (event.shiftKey && anchor !== undefined) {
      current.select(listStepRange(listed, anchor, key), key);
    } else if (event.ctrlKey || event.metaKey) {
      const next = new Set(current.selection);
      if (!next.delete(key)) next.add(key);
      current.select([...next], next.has(key) ? key : [...next].at(-1));
    } else {
      current.select([key]);
    }
  }, []);

  const cardProps = useCallback(
    (key: string) => ({
      draggable: true,
      onDragStart: (event: DragEvent) => {
        const { editor: current } = now.current;
        if (!current.selection.has(key)) current.select([key]);
        event.dataTransfer.effectAllowed = "move" as const;
        event.dataTransfer.setData("text/plain", key);
        // The browser cancels a drag if its element changes when it starts.
        setTimeout(() => setDragging(true));
      },
      onDragEnd: () => setDragging(false),
    }),
    [],
  );

  const insert = useCallback((at: Slot) => now.current.insertAt(at), []);
  const drop = useCallback((at: Slot) => {
    const { editor: current } = now.current;
    current.edit("Move", (before) => moveSteps(before, current.selection, at));
  }, []);
  const slot = useCallback(
    (list: StepPath, index: number, isEmpty: boolean) => (
      <SlotButton list={list} index={index} isEmpty={isEmpty} insert={insert} drop={drop} />
    ),
    [insert, drop],
  );

  const onKeyDown = useCanvasKeys(now);
  const editing: GraphEditing = useMemo(() => ({ slot, cardProps, onKeyDown }), [slot, cardProps, onKeyDown]);
  return (
    <div className="flow-editor-canvas" data-dragging={isDragging || undefined}>
      <Graph
        {...tree}
        selected={open}
        marked={selection}
        select={select}
        decorate={decorate}
        editing={editing}
      />
    </div>
  );
}

interface SlotProps extends Slot {
  isEmpty: boolean;
  insert: (slot: Slot) => void;
  drop: (slot: Slot) => void;
}

const SlotButton = memo(function SlotButton({ list, index, isEmpty, insert, drop }: SlotProps) {
  const [isOver, setOver] = useState(false);
  return (
    <button
      type="button"
      className="slot"
      data-empty={isEmpty || undefined}
      data-over={isOver || undefined}
      // With the keyboard, steps are inserted after the focused one.
      tabIndex={isEmpty ? 0 : -1}
      aria-label={isEmpty ? "Add a step here" : "Insert a step here"}
      onClick={() => insert({ list, index })}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        drop({ list, index });
      }}
    >
      <IconPlus size={14} aria-hidden />
      {isEmpty && "Add a step"}
    </button>
  );
});
