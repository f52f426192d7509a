/**
 * The graph of a flow: its steps from top to bottom, with loops and branches as boxes around their steps. The layout
 * uses CSS only.
 */
import { ActionIcon, Tooltip } from "@mantine/core";
import {
  IconArrowRight,
  IconArrowsSplit,
  IconBolt,
  IconChevronDown,
  IconChevronRight,
  IconCode,
  IconGitBranch,
  IconMinus,
  IconPlus,
  IconQuestionMark,
  IconRepeat,
  IconRoute,
} from "@tabler/icons-react";
import {
  type ButtonHTMLAttributes,
  Fragment,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  useCallback,
  useMemo,
  useState,
} from "react";
import { countSteps, type StepKind, type StepNode, type StepPath } from "./tree.ts";

const KINDS: Record<StepKind, { word: string; Icon: typeof IconBolt }> = {
  code: { word: "Code", Icon: IconCode },
  script: { word: "Script", Icon: IconBolt },
  flow: { word: "Flow", Icon: IconRoute },
  loop: { word: "For each of", Icon: IconRepeat },
  while: { word: "As long as it goes on", Icon: IconRepeat },
  choice: { word: "One of the branches", Icon: IconGitBranch },
  all: { word: "All branches", Icon: IconArrowsSplit },
  pass: { word: "Passes on its input", Icon: IconArrowRight },
  unknown: { word: "Step", Icon: IconQuestionMark },
};

/** In larger flows, boxes are collapsed initially. */
const MANY_STEPS = 400;
const ROOT: StepPath = ["value", "modules"];
const ZOOMS = [0.5, 0.65, 0.8, 1, 1.25];

/** Additional content of a step, such as its state or iterations. Must return the same object for the same state. */
export interface Decoration {
  tone?: string | undefined;
  /** Shown below the title. */
  foot?: ReactNode;
  /** Shown in the header of a loop or branch. */
  head?: ReactNode;
  /** The executed branch; others are dimmed. */
  branch?: number | undefined;
}

/** What an editor adds to the graph. Its functions must stay the same between changes of the flow. */
export interface GraphEditing {
  /** Selected steps, besides the one whose details are shown. */
  marked: ReadonlySet<string>;
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
  decorate?: ((id: string) => Decoration | undefined) | undefined;
  editing?: GraphEditing;
}

export function Graph({ nodes, failure, selected, select, decorate, editing }: Props) {
  const many = useMemo(() => countSteps(nodes) > MANY_STEPS, [nodes]);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [zoom, setZoom] = useState(3);
  const toggle = useCallback((id: string) => {
    setToggled((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const shared = {
    selected,
    select,
    toggle,
    decorate,
    editing,
    isClosed: (id: string) => toggled.has(id) !== many,
  };
  return (
    <div className="graph-box">
      <div className="graph-zoom">
        <Zoom label="Smaller" Icon={IconMinus} disabled={zoom === 0} act={() => setZoom(zoom - 1)} />
        <Zoom
          label="Larger"
          Icon={IconPlus}
          disabled={zoom === ZOOMS.length - 1}
          act={() => setZoom(zoom + 1)}
        />
      </div>
      <div
        role="group"
        aria-label="Graph"
        className="graph"
        style={{ zoom: ZOOMS[zoom] }}
        onKeyDown={(event) => {
          editing?.onKeyDown(event);
          if (!event.defaultPrevented) moveFocus(event);
        }}
      >
        <Sequence nodes={nodes} list={ROOT} {...shared} />
        {failure && (
          <div className="graph-failure">
            <span className="quiet">When a step fails</span>
            <Sequence nodes={[failure]} list={undefined} {...shared} />
          </div>
        )}
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

interface Shared extends Omit<Props, "nodes" | "failure"> {
  toggle: (id: string) => void;
  isClosed: (id: string) => boolean;
}

interface SequenceProps extends Shared {
  nodes: StepNode[];
  /** Position of the list; undefined: nothing can be inserted. */
  list: StepPath | undefined;
}

function Sequence({ nodes, list, ...shared }: SequenceProps) {
  const slot = list && shared.editing?.slot;
  const first = nodes.findIndex(({ path }) => path.at(-1) === 0);
  if (nodes.length === 0) return slot?.(list!, 0, true) ?? <div className="quiet graph-none">nothing</div>;
  return (
    <ol className="graph-list">
      {nodes.map((node, at) => {
        const index = node.path.at(-1);
        return (
          <Fragment key={node.id}>
            {slot && at === first && <li className="graph-slot">{slot(list!, 0, false)}</li>}
            <Step node={node} {...shared} />
            {slot && typeof index === "number" && (
              <li className="graph-slot">{slot(list!, index + 1, false)}</li>
            )}
          </Fragment>
        );
      })}
      {slot && first < 0 && <li className="graph-slot">{slot(list!, 0, true)}</li>}
    </ol>
  );
}

function Step({ node, ...shared }: Shared & { node: StepNode }) {
  const { selected, select, decorate, isClosed, toggle, editing } = shared;
  const shown = decorate?.(node.id);
  const closed = isClosed(node.id);
  const card = (
    <Card
      node={node}
      shown={shown}
      isSelected={selected === node.id || editing?.marked.has(node.id) === true}
      select={select}
      propsOf={editing?.cardProps}
    />
  );
  if (node.bodies.length === 0) return <li>{card}</li>;
  return (
    <li>
      <div className="graph-frame" data-tone={shown?.tone}>
        <div className="graph-frame-head">
          {card}
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
    </li>
  );
}

interface CardProps {
  node: StepNode;
  shown: Decoration | undefined;
  isSelected: boolean;
  select: (id: string, event: MouseEvent) => void;
  propsOf: ((id: string) => ButtonHTMLAttributes<HTMLButtonElement>) | undefined;
}

const Card = memo(function Card({ node, shown, isSelected, select, propsOf }: CardProps) {
  const { id, title, kind, detail, notes } = node;
  const { word, Icon } = KINDS[kind];
  return (
    <button
      type="button"
      className="step"
      data-tone={shown?.tone}
      aria-pressed={isSelected}
      data-step={id}
      onClick={(event) => select(id, event)}
      {...propsOf?.(id)}
    >
      <Icon size={18} role="img" aria-label={word} className="quiet" />
      <span className="step-name">
        <span className="clip">{title}</span>
        <span className="clip quiet">{[detail || word, ...notes].join(" · ")}</span>
      </span>
      {title !== id && <span className="key">{id}</span>}
      {shown?.foot && <span className="step-foot">{shown.foot}</span>}
    </button>
  );
});
