/** The document with its undo history. Documents share equal parts, so each entry holds a whole document. */
import { isEqualJson } from "../../../../api/json.ts";
import type { FlowDocument } from "./document.ts";

/** Changes with the same key within this time are merged into one entry. */
const MERGE_MS = 500;

interface Entry {
  label: string;
  before: FlowDocument;
  after: FlowDocument;
  mergeKey: string | undefined;
  at: number;
}

export interface History {
  flow: FlowDocument;
  /** The last saved document; if the current one differs, there are unsaved changes. */
  saved: FlowDocument;
  done: readonly Entry[];
  undone: readonly Entry[];
}

export interface Change {
  /** Describes the change, for "Undo …". */
  label: string;
  flow: FlowDocument;
  /** Identifies the field being edited. */
  mergeKey?: string;
}

export const createHistory = (flow: FlowDocument, saved: FlowDocument = flow): History => ({
  flow,
  saved,
  done: [],
  undone: [],
});

/**
 * Adds a change to the undo history; changes with one merge key in quick succession become one entry.
 * @param at time in milliseconds
 */
export function applyChange(history: History, { label, flow, mergeKey }: Change, at: number): History {
  if (flow === history.flow) return history;
  const last = history.done.at(-1);
  const isSameField = mergeKey !== undefined && last?.mergeKey === mergeKey && at - last.at <= MERGE_MS;
  const before = isSameField ? last.before : history.flow;
  const done = isSameField ? history.done.slice(0, -1) : history.done;
  return { ...history, flow, done: [...done, { label, before, after: flow, mergeKey, at }], undone: [] };
}

export function undo(history: History): History {
  const last = history.done.at(-1);
  if (!last) return history;
  return {
    ...history,
    flow: last.before,
    done: history.done.slice(0, -1),
    undone: [...history.undone, last],
  };
}

export function redo(history: History): History {
  const next = history.undone.at(-1);
  if (!next) return history;
  const done = [...history.done, { ...next, mergeKey: undefined }];
  return { ...history, flow: next.after, done, undone: history.undone.slice(0, -1) };
}

export const markSaved = (history: History, saved: FlowDocument): History => ({ ...history, saved });

export const isDirty = ({ flow, saved }: History): boolean => !isEqualJson(flow, saved);
