/** Widths of the graph in pixels, computed as the styles define them, because invisible steps cannot be measured. */
import type { StepNode } from "./tree.ts";

const CARD = 248;
/** Padding of one body of a frame. */
const BODY = 29;
/** Borders of a frame; its head holds the card and a button. */
const BORDERS = 2;
const HEAD = 45;
const LEAST_FRAME = 256;
/** Maximum width of the label above a body, and the width of a character. */
const LABEL = 272;
const CHARACTER = 7;

function stepWidth({ bodies, parallel, id }: StepNode, isClosed: (id: string) => boolean): number {
  if (bodies.length === 0) return CARD;
  const head = Math.max(CARD + HEAD, LEAST_FRAME);
  if (isClosed(id)) return head;
  const widths = bodies.map(
    ({ nodes, label }) =>
      Math.max(computeListWidth(nodes, isClosed), Math.min(label.length * CHARACTER, LABEL)) + BODY,
  );
  const inner = parallel ? widths.reduce((sum, each) => sum + each, 0) : Math.max(...widths);
  return Math.max(head, inner + BORDERS);
}

/** Returns the width of a list of steps. @param isClosed whether the steps in a frame are hidden */
export const computeListWidth = (nodes: StepNode[], isClosed: (id: string) => boolean): number =>
  nodes.reduce((widest, node) => Math.max(widest, stepWidth(node, isClosed)), CARD);
