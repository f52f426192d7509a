/** State of the editor: the document with its undo history, and the selection, which has no history. */
import { useCallback, useMemo, useReducer } from "react";
import { renameStep } from "./model/commands.ts";
import type { FlowDocument } from "./model/document.ts";
import * as history from "./model/history.ts";
import { listSteps } from "./model/steps.ts";

interface State {
  history: history.History;
  /** Keys of the selected steps. */
  selection: ReadonlySet<string>;
  /** The step whose details are shown. */
  open: string | undefined;
  /** Changes with the step whose details are shown, but not if only its id changes. */
  panel: number;
}

/** An edit: returns the next document, and optionally the keys of the steps to select. */
export type Edit = (flow: FlowDocument) => FlowDocument | readonly [FlowDocument, (string | undefined)[]];

type Action =
  | { type: "edit"; label: string; edit: Edit; mergeKey: string | undefined; at: number }
  | { type: "rename"; key: string; id: string; at: number }
  | { type: "undo" | "redo" }
  | { type: "saved"; flow: FlowDocument }
  | { type: "select"; keys: readonly string[]; open: string | undefined };

const NOTHING: ReadonlySet<string> = new Set();

function reduce(state: State, action: Action): State {
  const next = perform(state, action);
  const isSameStep = next.open === state.open || (action.type === "rename" && next.open === action.id);
  return isSameStep ? next : { ...next, panel: state.panel + 1 };
}

function perform(state: State, action: Action): State {
  switch (action.type) {
    case "edit": {
      const outcome = action.edit(state.history.flow);
      const [flow, keys] = isPair(outcome) ? outcome : [outcome, undefined];
      const next = history.applyChange(
        state.history,
        { label: action.label, flow, ...(action.mergeKey ? { mergeKey: action.mergeKey } : {}) },
        action.at,
      );
      if (next === state.history) return state;
      const selected = keys?.filter((key) => key !== undefined);
      return selected
        ? { history: next, selection: new Set(selected), open: selected.at(-1), panel: state.panel }
        : withoutGone({ ...state, history: next });
    }
    case "rename": {
      const { key, id, at } = action;
      const edit = (flow: FlowDocument): [FlowDocument, string[]] => [renameStep(flow, key, id), [id]];
      return perform(state, { type: "edit", label: "Id", edit, mergeKey: undefined, at });
    }
    case "undo":
      return withoutGone({ ...state, history: history.undo(state.history) });
    case "redo":
      return withoutGone({ ...state, history: history.redo(state.history) });
    case "saved":
      return { ...state, history: history.markSaved(state.history, action.flow) };
    case "select":
      return { ...state, selection: new Set(action.keys), open: action.open };
  }
}

const isPair = (outcome: ReturnType<Edit>): outcome is readonly [FlowDocument, (string | undefined)[]] =>
  Array.isArray(outcome);

/** Removes steps that no longer exist from the selection. */
function withoutGone(state: State): State {
  const keys = new Set(listSteps(state.history.flow).map(({ key }) => key));
  const selection = new Set([...state.selection].filter((key) => keys.has(key)));
  const open = state.open !== undefined && keys.has(state.open) ? state.open : undefined;
  return { ...state, open, selection: selection.size === 0 ? NOTHING : selection };
}

export interface FlowEditorState extends State {
  flow: FlowDocument;
  isDirty: boolean;
  /**
   * Applies an edit and adds it to the undo history.
   * @param mergeKey identifies the field being edited: its changes in quick succession are undone together
   */
  edit: (label: string, edit: Edit, mergeKey?: string) => void;
  /** Changes the id of a step. */
  rename: (key: string, id: string) => void;
  undo: () => void;
  redo: () => void;
  markSaved: (flow: FlowDocument) => void;
  select: (keys: readonly string[], open?: string) => void;
}

/**
 * Holds the state of the flow editor: document, history and selection.
 * @param saved the deployed version, if the document is a draft of it
 */
export function useFlowEditor(
  first: FlowDocument,
  saved: FlowDocument,
  open: string | undefined,
): FlowEditorState {
  const [state, dispatch] = useReducer(reduce, undefined, () => ({
    history: history.createHistory(first, saved),
    selection: open === undefined ? NOTHING : new Set([open]),
    open,
    panel: 0,
  }));
  const edit = useCallback(
    (label: string, change: Edit, mergeKey?: string) =>
      dispatch({ type: "edit", label, edit: change, mergeKey, at: Date.now() }),
    [],
  );
  const rename = useCallback(
    (key: string, id: string) => dispatch({ type: "rename", key, id, at: Date.now() }),
    [],
  );
  const undo = useCallback(() => dispatch({ type: "undo" }), []);
  const redo = useCallback(() => dispatch({ type: "redo" }), []);
  const markSaved = useCallback((flow: FlowDocument) => dispatch({ type: "saved", flow }), []);
  const select = useCallback(
    (keys: readonly string[], shown: string | undefined = keys.at(-1)) =>
      dispatch({ type: "select", keys, open: shown }),
    [],
  );
  const isDirty = useMemo(() => history.isDirty(state.history), [state.history]);
  return { ...state, flow: state.history.flow, isDirty, edit, rename, undo, redo, markSaved, select };
}
