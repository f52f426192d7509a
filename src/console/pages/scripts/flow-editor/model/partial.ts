/** Parts of a flow that can be run separately. */
import { getAt } from "../../../../api/json.ts";
import { type FlowDocument, setValueAt } from "./document.ts";
import { findPlacedStep, findSlotAfter } from "./steps.ts";

/** Returns the flow up to and including a step; later steps are left out at every level. */
export function truncateFlowAfter(flow: FlowDocument, key: string): FlowDocument {
  const placed = findPlacedStep(flow, key);
  if (!placed) return flow;
  let result = flow;
  for (const outer of [...placed.around, key]) {
    const slot = findSlotAfter(findPlacedStep(flow, outer)!);
    if (!slot) return flow;
    const list = getAt(result, slot.list) as unknown[];
    result = setValueAt(result, slot.list, list.slice(0, slot.index));
  }
  return result;
}
