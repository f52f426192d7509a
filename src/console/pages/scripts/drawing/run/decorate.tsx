/** Shows the states of a run on the steps in the editor. */
import type { Decoration } from "../../../../parts/flow/Graph.tsx";
import type { RunModel } from "../../../../parts/flow/run-model.ts";
import { STATES } from "../../../../parts/run-state.tsx";
import { duration } from "../../../../parts/time.tsx";
import type { FlowProblem } from "../model/check.ts";

/** @returns the decoration of a step: its state in the run, and its problems */
export function decorationOf(
  key: string,
  model: RunModel | undefined,
  problems: ReadonlyMap<string, FlowProblem[]>,
): Decoration | undefined {
  const seen = model?.seen.get(key);
  const wrong = problems.has(key);
  if (!seen && !wrong) return undefined;
  const state = seen && STATES[seen.state];
  const Icon = state?.Icon;
  return {
    ...(state ? { tone: state.tone } : {}),
    branch: seen?.branch,
    foot: (
      <>
        {wrong && (
          <span className="state" data-tone="waiting">
            Not ready
          </span>
        )}
        {state && Icon && (
          <span className="state" data-tone={state.tone}>
            <Icon size={15} aria-hidden />
            {state.word}
          </span>
        )}
        {seen?.iterations.length === 0 && seen.job?.duration_ms !== undefined && (
          <span className="quiet">{duration(seen.job.duration_ms)}</span>
        )}
        {seen && seen.iterations.length > 0 && <span className="quiet">{seen.iterations.length} times</span>}
      </>
    ),
  };
}
