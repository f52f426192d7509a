/** Shows the states of a run on the steps in the editor. */
import { useCallback, useRef } from "react";
import { formatDuration } from "../../../../parts/elements/time.tsx";
import type { Decoration } from "../../../../parts/flow/Card.tsx";
import type { RunModel, StepRunState } from "../../../../parts/flow/run-model.ts";
import { STATES } from "../../../../parts/runs/run-state.tsx";
import type { FlowProblem } from "../model/check.ts";
import { ResultLine } from "./ResultLine.tsx";

interface Shown {
  seen: StepRunState | undefined;
  isWrong: boolean;
  isChanged: boolean;
}

/**
 * Provides the decorations of steps by a run and by problems.
 * @param changed keys of the steps that were changed after the run
 * @returns a function that returns the decoration of a step: its state and result in the run, and its problems. An
 * unchanged step keeps its decoration object, so that its card is not rendered again.
 */
export function useDecorations(
  model: RunModel | undefined,
  problems: ReadonlyMap<string, FlowProblem[]>,
  changed: ReadonlySet<string>,
): (key: string) => Decoration | undefined {
  const made = useRef(new Map<string, { shown: Shown; decoration: Decoration | undefined }>());
  return useCallback(
    (key) => {
      const shown = {
        seen: model?.seen.get(key),
        isWrong: problems.has(key),
        isChanged: changed.has(key),
      };
      const before = made.current.get(key);
      if (before && isSameShown(before.shown, shown)) return before.decoration;
      const decoration = decorationOf(shown);
      made.current.set(key, { shown, decoration });
      return decoration;
    },
    [model, problems, changed],
  );
}

const isSameShown = (a: Shown, b: Shown): boolean =>
  a.seen === b.seen && a.isWrong === b.isWrong && a.isChanged === b.isChanged;

function decorationOf({ seen, isWrong, isChanged }: Shown): Decoration | undefined {
  if (!seen && !isWrong) return undefined;
  const state = seen && STATES[seen.state];
  const Icon = state?.Icon;
  return {
    ...(state && !isChanged ? { tone: state.tone } : {}),
    branch: seen?.branch,
    foot: (
      <>
        {isWrong && (
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
        {seen && isChanged && <span className="quiet">before the change</span>}
        {seen?.iterations.length === 0 && seen.job?.duration_ms !== undefined && (
          <span className="quiet">{formatDuration(seen.job.duration_ms)}</span>
        )}
        {seen && seen.iterations.length > 0 && <span className="quiet">{seen.iterations.length} times</span>}
        {seen?.iterations.length === 0 && seen.job?.type === "CompletedJob" && !seen.job.is_skipped && (
          <ResultLine id={seen.job.id} />
        )}
      </>
    ),
  };
}
