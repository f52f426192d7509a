/**
 * The graph of a flow: its steps from top to bottom, with loops and branches as boxes around their steps. The layout
 * uses CSS only.
 */
import { ActionIcon, Tooltip } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconMaximize, IconMinus, IconPlus } from "@tabler/icons-react";
import {
  type ButtonHTMLAttributes,
  createContext,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  useCallback,
  useContext,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { Card, type CardProps, type Decoration } from "./Card.tsx";
import { computeListWidth } from "./size.ts";
import { countSteps, type StepNode, type StepPath } from "./tree.ts";

/** In larger flows, boxes are collapsed initially. */
const MANY_STEPS = 400;
const ROOT: StepPath = ["value", "modules"];
const ZOOMS = [0.5, 0.65, 0.8, 1, 1.25];
const FULL = 3;
/** Index of the smallest zoom at which text is readable: wider graphs are scrolled. */
const LEAST_FIT = 2;
/** Space at the sides of the graph, in pixels. */
const MARGIN = 44;

/** What an editor adds to the graph. It and its functions must stay the same between changes of the flow. */
export interface GraphEditing {
  /** Rendered between the steps of a list. */
  slot: (list: StepPath, index: number, isEmpty: boolean) => ReactNode;
  cardProps: (id: string) => ButtonHTMLAttributes<HTMLButtonElement>;
  /** Handles keys that the graph does not use itself. */
  onKeyDown: (event: KeyboardEvent<HTMLDivElement>) => void;
}

interface Props {
  nodes: StepNode[];
  failure: StepNode | undefined;
  /** Id of the selected step. */
  selected: string | undefined;
  select: (id: string, event: MouseEvent) => void;
  /** Selected steps, besides the one whose details are shown. */
  marked?: ReadonlySet<string>;
  decorate?: ((id: string) => Decoration | undefined) | undefined;
  editing?: GraphEditing;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Whether a step is selected. Cards read it from here, so that a change of the selection renders nothing else of a
 * graph with hundreds of steps.
 */
const Selection = createContext<(id: string) => boolean>(() => false);

export function Graph({ nodes, failure, selected, marked = NONE, select, decorate, editing }: Props) {
  const many = useMemo(() => countSteps(nodes) > MANY_STEPS, [nodes]);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [zoom, setZoom] = useState(FULL);
  const [fitted, setFitted] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const toggle = useCallback((id: string) => {
    setToggled((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const isClosed = useCallback((id: string) => toggled.has(id) !== many, [toggled, many]);
  const isSelected = useCallback((id: string) => id === selected || marked.has(id), [selected, marked]);
  const shared = { select, toggle, decorate, editing, isClosed };
  const width = useMemo(
    () => computeListWidth(failure ? [...nodes, failure] : nodes, isClosed),
    [nodes, failure, isClosed],
  );
  const latest = useRef(width);
  latest.current = width;
  const fit = useCallback(() => {
    const room = box.current!.clientWidth;
    const size = ZOOMS.findLastIndex(
      (each, index) => index <= FULL && (latest.current + MARGIN) * each <= room,
    );
    setZoom(Math.max(size, LEAST_FIT));
    setFitted((before) => before + 1);
  }, []);
  useLayoutEffect(fit, [fit]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once it is drawn in the size that fits
  useLayoutEffect(() => {
    const graph = box.current!.querySelector(".graph")!;
    graph.scrollLeft = (graph.scrollWidth - graph.clientWidth) / 2;
  }, [fitted]);
  return (
    <div className="graph-box" ref={box}>
      <div className="graph-zoom">
        <Zoom label="Zoom out" Icon={IconMinus} disabled={zoom === 0} act={() => setZoom(zoom - 1)} />
        <Zoom
          label="Zoom in"
          Icon={IconPlus}
          disabled={zoom === ZOOMS.length - 1}
          act={() => setZoom(zoom + 1)}
        />
        <Zoom label="Fit to width" Icon={IconMaximize} disabled={false} act={fit} />
      </div>
      <div
        role="group"
        aria-label="Graph"
        className="graph"
        style={{ zoom: ZOOMS[zoom] }}
        onKeyDown={(event) => {
          editing?.onKeyDown(event);
          if (!event.defaultPrevented) moveFocus(event);
          if (!event.defaultPrevented) toggleFocused(event, shared);
        }}
      >
        {/* Steps that are not in view have no width of their own yet: nothing may jump when they get it. */}
        <Selection value={isSelected}>
          <div style={{ minWidth: width }}>
            <Sequence nodes={nodes} list={ROOT} {...shared} />
            {failure && (
              <div className="graph-failure">
                <span className="quiet">When a step fails</span>
                <ol className="graph-list">
                  <Step node={failure} {...shared} />
                </ol>
              </div>
            )}
          </div>
        </Selection>
      </div>
    </div>
  );
}

interface ZoomProps {
  label: string;
  Icon: typeof IconPlus;
  disabled: boolean;
  act: () => void;
}

const Zoom = ({ label, Icon, disabled, act }: ZoomProps) => (
  <Tooltip label={label}>
    <ActionIcon variant="default" size="sm" aria-label={label} disabled={disabled} onClick={act}>
      <Icon size={14} />
    </ActionIcon>
  </Tooltip>
);

/** Moves the focus between steps with arrow keys, in the order of the flow. */
function moveFocus(event: KeyboardEvent<HTMLDivElement>): void {
  const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (by === 0) return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(".step")];
  const next = all[all.indexOf(document.activeElement as HTMLElement) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Collapses the focused loop or branch by the left arrow and expands it by the right one. */
function toggleFocused(
  { key, target }: KeyboardEvent<HTMLDivElement>,
  { toggle, isClosed }: Pick<Shared, "toggle" | "isClosed">,
): void {
  const id = (target as HTMLElement).closest<HTMLElement>(".graph-frame-head > .step")?.dataset.step;
  if (id !== undefined && key === (isClosed(id) ? "ArrowRight" : "ArrowLeft")) toggle(id);
}

interface Shared extends Pick<Props, "select" | "decorate" | "editing"> {
  toggle: (id: string) => void;
  isClosed: (id: string) => boolean;
}

interface SequenceProps extends Shared {
  nodes: StepNode[];
  /** Position of the list. */
  list: StepPath;
}

const Sequence = memo(function Sequence({ nodes, list, ...shared }: SequenceProps) {
  const slot = shared.editing?.slot;
  const first = nodes.findIndex(({ path }) => path.at(-1) === 0);
  if (nodes.length === 0) return slot?.(list, 0, true) ?? <div className="quiet graph-none">nothing</div>;
  return (
    <ol className="graph-list">
      {nodes.map((node, at) => (
        <Step
          key={node.id}
          node={node}
          list={typeof node.path.at(-1) === "number" ? list : undefined}
          isFirst={at === first}
          {...shared}
        />
      ))}
      {slot && first < 0 && <li className="graph-slot">{slot(list, 0, true)}</li>}
    </ol>
  );
});

interface StepProps extends Shared {
  node: StepNode;
  /** The list that it is in; undefined: nothing can be inserted beside it. */
  list?: StepPath | undefined;
  isFirst?: boolean;
}

/** A step, with the places beside it where others can be inserted. */
const Step = memo(function Step({ node, list, isFirst = false, ...shared }: StepProps) {
  const slot = list && shared.editing?.slot;
  return (
    <>
      {slot && isFirst && <li className="graph-slot">{slot(list, 0, false)}</li>}
      <li>
        {node.bodies.length === 0 ? <StepCard node={node} {...shared} /> : <Frame node={node} {...shared} />}
      </li>
      {slot && <li className="graph-slot">{slot(list, Number(node.path.at(-1)) + 1, false)}</li>}
    </>
  );
});

interface NodeProps extends Shared {
  node: StepNode;
}

const StepCard = ({ node, select, decorate, editing }: NodeProps) => (
  <SelectableCard node={node} shown={decorate?.(node.id)} select={select} propsOf={editing?.cardProps} />
);

/** A loop or branch: a box around its steps. */
function Frame({ node, ...shared }: NodeProps) {
  const { decorate, isClosed, toggle } = shared;
  const shown = decorate?.(node.id);
  const closed = isClosed(node.id);
  return (
    <div className="graph-frame" data-tone={shown?.tone}>
      <div className="graph-frame-head">
        <StepCard node={node} {...shared} />
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={closed ? `Show the steps in ${node.title}` : `Hide the steps in ${node.title}`}
          aria-expanded={!closed}
          onClick={() => toggle(node.id)}
        >
          {closed ? <IconChevronRight size={16} /> : <IconChevronDown size={16} />}
        </ActionIcon>
      </div>
      {shown?.head}
      {!closed && (
        <div className={node.parallel ? "graph-branches" : undefined}>
          {node.bodies.map(({ label, path, nodes }, index) => (
            <div
              key={index}
              className="graph-body"
              data-other={shown?.branch !== undefined && shown.branch !== index ? true : undefined}
            >
              {label && <div className="graph-label">{label}</div>}
              <Sequence nodes={nodes} list={path} {...shared} />
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

const SelectableCard = (props: Omit<CardProps, "isSelected">) => (
  <Card {...props} isSelected={useContext(Selection)(props.node.id)} />
);
