import type { ReactNode } from "react";
import { useQuestion } from "../actions.tsx";
import { discardDraft } from "./drafts.ts";

/** Stops saving the draft, then performs the action. */
type End = (action: () => Promise<void>) => Promise<void>;

interface Discarding {
  workspace: string;
  kind: "flow" | "script";
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
  const { ask, dialog } = useQuestion();
  const discard = (end: End) =>
    ask({
      title: "Discard the draft?",
      text: "The editor shows the deployed version again. The draft cannot be restored.",
      label: "Discard",
      action: async () => {
        await end(async () => {
          await discardDraft(workspace, kind, path);
          await refetch();
        });
        reopen();
        return undefined;
      },
    });
  return { discard, dialog };
}
