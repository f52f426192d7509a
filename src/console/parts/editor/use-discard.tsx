import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { callOperation } from "../../api/call.ts";
import { memberQuery } from "../../api/session.ts";
import { useConfirmation } from "../elements/actions.tsx";
import { linkTo } from "../navigation/places.ts";
import { type DraftKind, type DraftPlace, discardDraft } from "./drafts.ts";

/** Stops saving the draft, then performs the action. */
type End = (action: () => Promise<void>) => Promise<void>;

interface Discarding {
  workspace: string;
  kind: DraftKind;
  path: string;
  /** Reloads the deployed version. */
  refetch: () => Promise<unknown>;
  /** Reopens the editor. */
  reopen: () => void;
}

/** Returns a function that discards a draft after confirmation, and the confirmation dialog. */
export function useDiscard({ workspace, kind, path, refetch, reopen }: Discarding): {
  discard: (end: End) => void;
  dialog: ReactNode;
} {
  const { ask, dialog } = useConfirmation();
  const discard = (end: End) =>
    ask({
      title: "Discard the draft?",
      text: "The editor shows the deployed version again. The draft cannot be restored.",
      label: "Discard",
      action: async () => {
        await end(async () => {
          await discardDraft({ workspace, kind, path });
          await refetch();
        });
        reopen();
        return undefined;
      },
    });
  return { discard, dialog };
}

interface NewItem extends DraftPlace {
  /** Username of the user who began it. */
  begunBy: string;
  otherDrafts: readonly unknown[];
  /** Whether the path has an archived script, which is kept. */
  isOverArchived?: boolean;
}

/** As `useDiscard`, for a script or flow that was never deployed: it is deleted too, unless others work on it. */
export function useDiscardNew({ begunBy, otherDrafts, isOverArchived, ...place }: NewItem): {
  discard: (end: End) => void;
  dialog: ReactNode;
} {
  const { workspace, kind, path } = place;
  const { ask, dialog } = useConfirmation();
  const [, go] = useLocation();
  const username = useQuery(memberQuery(workspace)).data?.username;
  const isOnlyOwn = begunBy === username && otherDrafts.length === 0;
  const remove = () => {
    if (!isOnlyOwn) return discardDraft(place);
    return kind === "flow"
      ? callOperation("DELETE /w/{workspace}/flows/delete/{path}", { workspace, path })
      : callOperation("POST /w/{workspace}/scripts/delete/p/{path}", { workspace, path });
  };
  const discard = (end: End) =>
    ask({
      title: "Discard the draft?",
      text: isOnlyOwn
        ? isOverArchived
          ? `The draft cannot be restored. The archived ${kind} of this path is kept.`
          : `The ${kind} was never deployed: it is deleted, and cannot be restored.`
        : `Your draft cannot be restored. The ${kind} is kept, because somebody else began it or has a draft of it.`,
      label: "Discard",
      action: async () => {
        await end(async () => void (await remove()));
        go(linkTo.home(workspace));
        return undefined;
      },
    });
  return { discard, dialog };
}
