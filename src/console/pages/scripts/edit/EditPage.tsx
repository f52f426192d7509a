import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useParams } from "wouter";
import type { Answer } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import type { Script } from "../../../api/interface.d.ts";
import { StoredDraft } from "../../../parts/editor/drafts.ts";
import { EditorPage } from "../../../parts/editor/EditorPage.tsx";
import { OtherDrafts } from "../../../parts/editor/OtherDrafts.tsx";
import { useDiscard, useDiscardNew } from "../../../parts/editor/use-discard.tsx";
import { useWorkspace } from "../../../parts/navigation/places.ts";
import { type Draft, isArchivedQuery, scriptWithDraftQuery } from "./queries.ts";
import { ScriptEditor } from "./ScriptEditor.tsx";

type Found = Answer<"GET /w/{workspace}/scripts/get/draft/{path}">;

/** Editor page of a script, also of one that was never deployed. */
export default function EditPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const found = useQuery(scriptWithDraftQuery(workspace, path));
  return (
    <EditorPage kind="script" path={path} query={found}>
      {(script, above, reopen) => (
        <Opened workspace={workspace} path={path} found={script} above={above} reopen={reopen} />
      )}
    </EditorPage>
  );
}

interface Props {
  workspace: string;
  path: string;
  found: Found;
  above: ReactNode;
  reopen: () => void;
}

/** The script as it was when the editor was opened, even if it is deployed in the meantime. */
function Opened({ workspace, path, found, above, reopen }: Props) {
  const [{ draft: stored, draft_revision, other_drafts, ...rest }] = useState(found);
  const script = rest as unknown as Script;
  const deployed = script.draft_only ? undefined : script;
  const place = { workspace, kind: "script", path } as const;
  const [store] = useState(() => new StoredDraft<Draft>(place, draft_revision));
  const refetch = () => queryClient.fetchQuery({ ...scriptWithDraftQuery(workspace, path), staleTime: 0 });
  const ofDeployed = useDiscard({ ...place, refetch, reopen });
  const archived = useQuery({ ...isArchivedQuery(workspace, path), enabled: !deployed });
  const isOverArchived = archived.data === true;
  const ofNew = useDiscardNew({
    ...place,
    begunBy: script.created_by,
    otherDrafts: other_drafts,
    isOverArchived,
  });
  const { discard, dialog } = deployed ? ofDeployed : ofNew;
  const draft = stored as Partial<Draft> | null | undefined;
  const hasDraft = typeof draft?.content === "string";
  const base = deployed && (hasDraft ? draft.parent_hash : deployed.hash);
  const initial: Draft = {
    content: hasDraft ? draft.content! : script.content,
    language: script.language,
    summary: script.summary,
    ...(typeof base === "string" ? { parent_hash: base } : {}),
  };
  return (
    <>
      <ScriptEditor
        workspace={workspace}
        path={path}
        title={`Edit ${script.summary || path}`}
        above={above}
        initial={initial}
        {...(deployed ? { deployed } : {})}
        hasDraft={hasDraft || !deployed}
        store={store}
        discard={discard}
        reopen={async () => {
          await refetch();
          reopen();
        }}
      >
        <OtherDrafts drafts={other_drafts} />
        {!deployed && (
          <Alert variant="light" color="blue" mb="md">
            {isOverArchived
              ? "The script of this path is archived, and this draft was never deployed: nothing can run it by its path yet."
              : "This script was never deployed: it is a draft, which nothing can run by its path yet."}
          </Alert>
        )}
        {deployed && hasDraft && draft.content !== deployed.content && (
          <Alert variant="light" color="yellow" mb="md">
            This is your saved draft. It differs from the deployed version.
          </Alert>
        )}
      </ScriptEditor>
      {dialog}
    </>
  );
}
