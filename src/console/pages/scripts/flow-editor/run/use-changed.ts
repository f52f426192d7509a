/** Finds the steps that were changed after the run whose values are shown. */
import { useMemo, useState } from "react";
import { type Fields, isEqualJson } from "../../../../api/json.ts";
import { listBodies } from "../../../../parts/flow/tree.ts";
import type { FlowDocument } from "../model/document.ts";
import { listSteps } from "../model/steps.ts";
import { useStableValue } from "../use-stable-value.ts";

/** Results of comparisons. Steps are never changed in place. */
const compared = new WeakMap<Fields, { with: Fields; isSame: boolean }>();

function isUnchanged(step: Fields, ran: Fields): boolean {
  if (step === ran) return true;
  const known = compared.get(step);
  if (known?.with === ran) return known.isSame;
  const same = isEqualJson(step, ran);
  compared.set(step, { with: ran, isSame: same });
  return same;
}

/** Stores the flow of each run that was started in the editor. */
export function useRanFlows() {
  const [ran, setRan] = useState<ReadonlyMap<string, FlowDocument>>(new Map());
  const note = (id: string, flow: FlowDocument) => setRan((before) => new Map(before).set(id, flow));
  return { ran, note };
}

/**
 * Lists the keys of the steps that differ from the flow of the shown run.
 * @param ran the flow of the run; undefined if unknown
 */
export function useChangedSteps(flow: FlowDocument, ran: FlowDocument | undefined): ReadonlySet<string> {
  const before = useMemo(() => ran && new Map(listSteps(ran).map(({ key, step }) => [key, step])), [ran]);
  const keys = useMemo(
    () =>
      listSteps(flow).flatMap(({ key, step }) => {
        const old = before?.get(key);
        // Changes inside of loops and branches are shown on the steps themselves.
        return old && listBodies(step).length === 0 && !isUnchanged(step, old) ? [key] : [];
      }),
    [flow, before],
  );
  const changed = useStableValue(keys);
  return useMemo(() => new Set(changed), [changed]);
}
