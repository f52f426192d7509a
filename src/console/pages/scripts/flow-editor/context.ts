/** State shared by all parts of the editor: the flow, and the run whose values are shown. */
import { createContext, useContext } from "react";
import type { Fields } from "../../../api/json.ts";
import type { StepJob } from "../../../parts/flow/run-model.ts";
import type { FlowEditorState } from "./use-flow-editor.ts";

/** A run of this flow, or of a version tested in the editor. */
export interface EarlierRun {
  id: string;
  input: Fields | undefined;
  /** The job of each completed step, by id; in a loop, that of the selected iteration. */
  jobs: ReadonlyMap<string, StepJob>;
  /** Completed loops and parallel branches, by id; their result contains those of all iterations or branches. */
  gathered: ReadonlySet<string>;
  /** The iterations of each loop, by id, and the selected one. */
  loops: ReadonlyMap<string, { iterations: StepJob[]; picked: number }>;
}

export interface EditorContext {
  workspace: string;
  editor: FlowEditorState;
  run: EarlierRun | undefined;
  /** Selects the iteration of a loop whose values are shown. */
  pick: (loop: string, index: number) => void;
}

const Context = createContext<EditorContext | undefined>(undefined);
export const EditorContextProvider = Context.Provider;

/** Returns the state of the flow editor around this component. @throws outside of the editor */
export function useEditorContext(): EditorContext {
  const shared = useContext(Context);
  if (!shared) throw new Error("This component must be inside the flow editor");
  return shared;
}
