import { Anchor, Button } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { useMayWrite } from "../../../api/item-rights.ts";
import { isRecord } from "../../../api/json.ts";
import { memberQuery, useMay } from "../../../api/session.ts";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { useUrlParameters } from "../../../parts/navigation/use-url-parameters.ts";
import { Changes } from "./Changes.tsx";
import type { FlowDocument } from "./model/document.ts";
import { toDocument } from "./model/document.ts";
import { type Draft, flowWithDraftQuery } from "./queries.ts";

/** Shows the changes of a flow's draft, for a reviewer before the deployment. */
export default function ReviewPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const of = useUrlParameters().get("of") || undefined;
  const own = useQuery(memberQuery(workspace)).data?.username;
  const isOwn = of === undefined || of === own;
  const found = useQuery(flowWithDraftQuery(workspace, path, of));
  const isAuthor = useMay(workspace)("POST /w/{workspace}/flows/update/{path}", "author");
  const mayWrite = useMayWrite(workspace)(path, found.data?.extra_perms) && isAuthor;
  const { data } = found;
  const isNew = data?.draft_only === true;
  const draft = isRecord(data?.draft)
    ? toDraft(data.draft, path)
    : // A new flow is stored as its author began it, until they change it.
      isNew && (of ?? own) === data.edited_by
      ? toDocument(data)
      : undefined;
  const before = isNew ? { path, value: { modules: [] } } : data && toDocument(data);
  return (
    <div className="page">
      <PageHead
        title={`Changes of ${found.data?.summary || path}`}
        above={
          <Anchor
            component={Link}
            href={isNew ? linkTo.home(workspace) : linkTo.flow(workspace, path)}
            fz="sm"
          >
            {isNew ? "Home" : path}
          </Anchor>
        }
        about={`${isNew ? "A new flow, not deployed yet: " : "From what is deployed to "}${
          isOwn ? "your draft" : `the draft of ${of}`
        }`}
      >
        {mayWrite && draft && isOwn && (
          <Button component={Link} href={linkTo.draw(workspace, path)} leftSection={<IconPencil size={16} />}>
            Open the draft
          </Button>
        )}
      </PageHead>
      {found.error ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <Loading />
      ) : before && draft ? (
        <Changes before={before} after={draft} />
      ) : (
        <Empty title="There is no draft">The draft was deployed or discarded.</Empty>
      )}
    </div>
  );
}

function toDraft(kept: Record<string, unknown>, path: string): FlowDocument | undefined {
  const { parent_version: _base, ...draft } = kept as Draft;
  return isRecord(draft.value) ? { ...draft, path, value: draft.value } : undefined;
}
