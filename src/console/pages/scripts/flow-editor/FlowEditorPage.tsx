import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link, useParams } from "wouter";
import { queryClient } from "../../../api/client.ts";
import { isRecord } from "../../../api/json.ts";
import { StoredDraft } from "../../../parts/editor/drafts.ts";
import { EditorPage } from "../../../parts/editor/EditorPage.tsx";
import { useDiscard, useDiscardNew } from "../../../parts/editor/use-discard.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { FlowEditor } from "./FlowEditor.tsx";
import { toDocument } from "./model/document.ts";
import { type Draft, type FoundFlow, flowWithDraftQuery } from "./queries.ts";

/** Flow editor for a deployed flow, its draft, or a new flow. */
export default function FlowEditorPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const found = useQuery(flowWithDraftQuery(workspace, path));
  const none = (
    <Empty title={`There is no flow at ${path}`}>
      <Button component={Link} href={linkTo.newFlow(workspace)}>
        New flow
      </Button>
    </Empty>
  );
  return (
    <EditorPage kind="flow" path={path} query={found} none={none}>
      {(flow, above, reopen) => (
        <Opened workspace={workspace} path={path} found={flow} above={above} reopen={reopen} />
      )}
    </EditorPage>
  );
}

interface Props {
  workspace: string;
  path: string;
  found: FoundFlow;
  above: ReactNode;
  reopen: () => void;
}

/** The flow as it was when the editor was opened, even if it is deployed in the meantime. */
function Opened({ workspace, path, found: given, above, reopen }: Props) {
  const [found] = useState(given);
  const place = { workspace, kind: "flow", path } as const;
  const [store] = useState(() => new StoredDraft<Draft>(place, found.draft_revision));
  const refetch = () => queryClient.fetchQuery({ ...flowWithDraftQuery(workspace, path), staleTime: 0 });
  const { discard, dialog } = useDiscard({ ...place, refetch, reopen });
  const discardNew = useDiscardNew({
    ...place,
    begunBy: found.edited_by,
    otherDrafts: found.other_drafts,
  });
  const document = toDocument(found);
  const deployed = found.draft_only ? undefined : document;
  const kept = isRecord(found.draft) && isRecord(found.draft.value) ? found.draft : undefined;
  const { parent_version, ...draft } = (kept ?? {}) as Partial<Draft>;
  const first = kept ? { ...draft, path, value: draft.value! } : document;
  // Drafts of other clients do not contain the version that they are based on.
  const base = deployed && ((kept && parent_version) ?? found.version_id);
  return (
    <>
      <FlowEditor
        workspace={workspace}
        above={above}
        first={first}
        deployed={deployed}
        base={base}
        hasDraft={kept !== undefined}
        otherDrafts={found.other_drafts}
        store={store}
        discard={deployed ? discard : discardNew.discard}
        reopen={async () => {
          await refetch();
          reopen();
        }}
      />
      {deployed ? dialog : discardNew.dialog}
    </>
  );
}
