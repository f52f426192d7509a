import { Alert, Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useState } from "react";
import { Link, useParams } from "wouter";
import { type Answer, call } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import type { Script } from "../../../api/interface.d.ts";
import { OtherDrafts } from "../../../parts/editor/OtherDrafts.tsx";
import { useDiscard } from "../../../parts/editor/use-discard.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { PageHead } from "../../../parts/PageHead.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to, useWorkspace } from "../../../parts/places.ts";
import { type Draft, scriptWithDraft } from "./queries.ts";
import { ScriptEditor } from "./ScriptEditor.tsx";

type Found = Answer<"GET /w/{workspace}/scripts/get/draft/{path}">;

/** Editor page of a deployed script. */
export default function EditPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const found = useQuery(scriptWithDraft(workspace, path));
  const [attempt, setAttempt] = useState(0);
  const above = (
    <Anchor component={Link} href={to.script(workspace, path)} fz="sm">
      {path}
    </Anchor>
  );
  if (!found.data) {
    return (
      <div className="page">
        <PageHead title="Edit" above={above} />
        {found.error ? <Problem error={found.error} retry={() => void found.refetch()} /> : <Loading />}
      </div>
    );
  }
  return (
    <Opened
      key={`${path} ${attempt}`}
      workspace={workspace}
      path={path}
      found={found.data}
      above={above}
      reopen={() => setAttempt(attempt + 1)}
    />
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
  const [{ draft: stored, other_drafts, ...rest }] = useState(found);
  const { discard, dialog } = useDiscard({
    workspace,
    kind: "script",
    path,
    refetch: () => queryClient.fetchQuery({ ...scriptWithDraft(workspace, path), staleTime: 0 }),
    reopen,
  });
  const keep = useCallback(
    async (draft: Draft) => {
      await call("POST /w/{workspace}/drafts/create", {
        workspace,
        body: { path, typ: "script", value: draft },
      });
    },
    [workspace, path],
  );
  const deployed = rest as unknown as Script;
  const draft = stored as Partial<Draft> | null | undefined;
  const hasDraft = typeof draft?.content === "string";
  const base = hasDraft ? draft.parent_hash : deployed.hash;
  const initial: Draft = {
    content: hasDraft ? draft.content! : deployed.content,
    language: deployed.language,
    summary: deployed.summary,
    ...(typeof base === "string" ? { parent_hash: base } : {}),
  };
  return (
    <>
      <ScriptEditor
        workspace={workspace}
        path={path}
        title={`Edit ${deployed.summary || path}`}
        above={above}
        initial={initial}
        deployed={deployed}
        hasDraft={hasDraft}
        keep={keep}
        discard={discard}
      >
        <OtherDrafts drafts={other_drafts} />
        {hasDraft && draft.content !== deployed.content && (
          <Alert variant="light" color="yellow" mb="md">
            This is a draft that was kept. What is deployed is another version.
          </Alert>
        )}
      </ScriptEditor>
      {dialog}
    </>
  );
}
