import { Alert, Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link, useParams } from "wouter";
import { call } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import type { Script } from "../../../api/interface.d.ts";
import { useQuestion } from "../../../parts/actions.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { PageHead } from "../../../parts/PageHead.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to, useWorkspace } from "../../../parts/places.ts";
import { type Draft, scriptWithDraft } from "./queries.ts";
import { ScriptEditor } from "./ScriptEditor.tsx";

/** Edits a script that is deployed. */
export default function EditPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const found = useQuery(scriptWithDraft(workspace, path));
  const [attempt, setAttempt] = useState(0);
  const { ask, dialog } = useQuestion();
  const keep = useCallback(
    async (draft: Draft) => {
      await call("POST /w/{workspace}/drafts/create", {
        workspace,
        body: { path, typ: "script", value: draft },
      });
    },
    [workspace, path],
  );
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
  const { draft: stored, ...rest } = found.data;
  const deployed = rest as unknown as Script;
  const draft = stored as Partial<Draft> | null | undefined;
  const content = typeof draft?.content === "string" ? draft.content : deployed.content;
  const hasDraft = content !== deployed.content;
  const discard = () =>
    ask({
      title: "Discard the draft?",
      text: "The editor shows the deployed version again. The draft cannot be brought back.",
      label: "Discard",
      action: async () => {
        await call("DELETE /w/{workspace}/drafts/delete/{kind}/{path}", { workspace, kind: "script", path });
        await queryClient.fetchQuery({ ...scriptWithDraft(workspace, path), staleTime: 0 });
        setAttempt(attempt + 1);
        return undefined;
      },
    });
  return (
    <>
      <ScriptEditor
        key={attempt}
        workspace={workspace}
        path={path}
        title={`Edit ${deployed.summary || path}`}
        above={above}
        initial={{ content, language: deployed.language, summary: deployed.summary }}
        deployed={deployed}
        keep={keep}
        discard={discard}
      >
        {hasDraft && (
          <Alert variant="light" color="yellow" mb="md">
            This is a draft that was kept. What is deployed is another version.
          </Alert>
        )}
      </ScriptEditor>
      {dialog}
    </>
  );
}
