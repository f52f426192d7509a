/** The card of a step in the graph. */
import {
  IconArrowRight,
  IconArrowsSplit,
  IconBolt,
  IconCode,
  IconGitBranch,
  IconQuestionMark,
  IconRepeat,
  IconRoute,
} from "@tabler/icons-react";
import { type ButtonHTMLAttributes, type MouseEvent, memo, type ReactNode } from "react";
import type { StepKind, StepNode } from "./tree.ts";

const KINDS: Record<StepKind, { word: string; Icon: typeof IconBolt }> = {
  code: { word: "Code", Icon: IconCode },
  script: { word: "Script", Icon: IconBolt },
  flow: { word: "Flow", Icon: IconRoute },
  loop: { word: "For each of", Icon: IconRepeat },
  while: { word: "While loop", Icon: IconRepeat },
  choice: { word: "First matching branch", Icon: IconGitBranch },
  all: { word: "All branches", Icon: IconArrowsSplit },
  pass: { word: "Passes on its input", Icon: IconArrowRight },
  unknown: { word: "Step", Icon: IconQuestionMark },
};

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

export interface CardProps {
  node: StepNode;
  shown: Decoration | undefined;
  isSelected: boolean;
  select: (id: string, event: MouseEvent) => void;
  propsOf: ((id: string) => ButtonHTMLAttributes<HTMLButtonElement>) | undefined;
}

export const Card = memo(function Card({ node, shown, isSelected, select, propsOf }: CardProps) {
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
