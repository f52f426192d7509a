import { ActionIcon, Badge } from "@mantine/core";
import { IconBolt, IconLayoutDashboard, IconRoute, IconStar, IconStarFilled } from "@tabler/icons-react";
import { memo } from "react";
import { Link } from "wouter";
import { isEqualJson } from "../../api/json.ts";
import { Moment } from "../../parts/elements/time.tsx";
import { linkTo } from "../../parts/navigation/places.ts";
import { State } from "../../parts/runs/run-state.tsx";
import type { Item, ItemKind } from "./items.ts";

const KINDS: Record<ItemKind, { Icon: typeof IconBolt; word: string }> = {
  script: { Icon: IconBolt, word: "Script" },
  flow: { Icon: IconRoute, word: "Flow" },
  app: { Icon: IconLayoutDashboard, word: "App" },
};

const PLACES = { script: linkTo.script, flow: linkTo.flow, app: linkTo.app };
/** Items that were never deployed only have the editor as their page. */
const DRAFT_PLACES = { script: linkTo.editScript, flow: linkTo.draw, app: linkTo.app };

interface Props {
  workspace: string;
  item: Item;
  star: (item: Item) => void;
}

/** Rendered again only if its item has changed: the list is long and often refetched. */
export const ItemRow = memo(Row, (a, b) => a.workspace === b.workspace && isEqualJson(a.item, b.item));

function Row({ workspace, item, star }: Props) {
  const { kind, path, summary, language, starred, draft, last } = item;
  const { Icon, word } = KINDS[kind];
  const name = summary || path;
  const title = (
    <>
      <div className="clip" style={{ fontWeight: 500 }}>
        {name}
      </div>
      {summary !== "" && <div className="clip quiet mono">{path}</div>}
    </>
  );
  return (
    <div className="row item-row">
      <Icon size={18} aria-label={word} role="img" className="quiet" />
      <div style={{ minWidth: 0, padding: "0.4rem 0" }}>
        <Link href={(draft ? DRAFT_PLACES : PLACES)[kind](workspace, path)}>{title}</Link>
      </div>
      <div className="item-kind quiet">
        {language ?? word}{" "}
        {draft && (
          <Badge size="xs" variant="default">
            draft
          </Badge>
        )}
      </div>
      <div className="item-last">
        {last && (
          <Link href={linkTo.run(workspace, last.id)}>
            <State job={last} />
            <div className="quiet" style={{ fontSize: "0.75rem" }}>
              <Moment at={last.started_at ?? last.created_at} />
            </div>
          </Link>
        )}
      </div>
      <div>
        {kind !== "app" && !draft && (
          <Link href={linkTo.begin(workspace, kind, path)} className="run-link" aria-label={`Run ${name}`}>
            Run
          </Link>
        )}
      </div>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-pressed={starred}
        aria-label={starred ? `Remove ${name} from favourites` : `Add ${name} to favourites`}
        onClick={() => star(item)}
      >
        {starred ? <IconStarFilled size={16} style={{ color: "var(--waiting)" }} /> : <IconStar size={16} />}
      </ActionIcon>
    </div>
  );
}
