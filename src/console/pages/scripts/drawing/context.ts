/** What the parts of the editor share: the drawing, and the run whose values are shown beside it. */
import { createContext, useContext } from "react";
import type { Fields } from "../../../api/json.ts";
import type { StepJob } from "../../../parts/flow/run-model.ts";
import type { Drawing } from "./use-drawing.ts";

/** A run of this flow, deployed or tried here. */
export interface EarlierRun {
  id: string;
  input: Fields | undefined;
  /** The job of each step that has ended, by id; of a loop the one of the chosen iteration. */
  jobs: ReadonlyMap<string, StepJob>;
  /** Loops and parallel branches that have ended, by id: their result is that of all together. */
  gathered: ReadonlySet<string>;
  /** The iterations of each loop, by id, and which of them is chosen. */
  loops: ReadonlyMap<string, { iterations: StepJob[]; picked: number }>;
}

export interface Shared {
  workspace: string;
  drawing: Drawing;
  run: EarlierRun | undefined;
  /** Chooses the iteration of a loop whose values are shown. */
  pick: (loop: string, index: number) => void;
}

const Context = createContext<Shared | undefined>(undefined);
export const DrawingProvider = Context.Provider;

/** @throws outside of the editor */
export function useShared(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error("This part stands in the flow editor alone");
  return shared;
}
