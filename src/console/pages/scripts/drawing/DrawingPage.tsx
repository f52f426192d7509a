import { Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { queryClient } from "../../../api/client.ts";
import { isRecord } from "../../../api/json.ts";
import { whoami } from "../../../api/session.ts";
import { useDiscard } from "../../../parts/editor/use-discard.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { PageHead } from "../../../parts/PageHead.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to, useWorkspace } from "../../../parts/places.ts";
import { FlowEditor } from "./FlowEditor.tsx";
import { toDocument } from "./model/document.ts";
import { forgetNewFlow, readNewFlow, writeNewFlow } from "./new-flows.ts";
import { type Draft, type FoundFlow, flowWithDraft, keepDraft } from "./queries.ts";

/** Flow editor for a deployed flow, its draft, or a new flow. */
export default function DrawingPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const found = useQuery(flowWithDraft(workspace, path));
  const email = useQuery(whoami).data?.email;
  const [attempt, setAttempt] = useState(0);
  const above = (
    <Anchor component={Link} href={found.data ? to.flow(workspace, path) : to.home(workspace)} fz="sm">
      {found.data ? path : "Home"}
    </Anchor>
  );
  if (found.data === undefined || email === undefined) {
    return (
      <div className="page">
        <PageHead title="Draw" above={above} />
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
      email={email}
      above={above}
      reopen={() => setAttempt(attempt + 1)}
    />
  );
}

interface Props {
  workspace: string;
  path: string;
  found: FoundFlow | null;
  email: string;
  above: React.ReactNode;
  reopen: () => void;
}

/** The flow as it was when the editor was opened, even if it is deployed in the meantime. */
function Opened({ workspace, path, found: given, email, above, reopen }: Props) {
  const [found] = useState(given);
  const { discard, dialog } = useDiscard({
    workspace,
    kind: "flow",
    path,
    refetch: () => queryClient.fetchQuery({ ...flowWithDraft(workspace, path), staleTime: 0 }),
    reopen,
  });
  const deployed = found ? toDocument(found) : undefined;
  const kept = found
    ? isRecord(found.draft) && isRecord(found.draft.value)
      ? found.draft
      : undefined
    : undefined;
  const [fresh] = useState(() => (found ? undefined : readNewFlow(email, workspace, path)));
  const { parent_version, ...draft } = (kept ?? {}) as Partial<Draft>;
  const first = kept
    ? { ...draft, path, value: draft.value! }
    : (deployed ?? fresh ?? { path, summary: "", description: "", value: { modules: [] } });
  // Drafts of other clients do not contain the version that they are based on.
  const base = kept ? (parent_version ?? found?.version_id) : found?.version_id;
  const keep = async (next: Draft) => {
    if (found) await keepDraft(workspace, path, next);
    else writeNewFlow(email, workspace, next);
  };
  return (
    <>
      <FlowEditor
        workspace={workspace}
        above={above}
        first={first}
        deployed={deployed}
        base={base}
        hasDraft={kept !== undefined}
        otherDrafts={found?.other_drafts ?? []}
        keep={keep}
        discard={deployed ? discard : undefined}
        onDeployed={() => forgetNewFlow(email, workspace, path)}
      />
      {dialog}
    </>
  );
}
