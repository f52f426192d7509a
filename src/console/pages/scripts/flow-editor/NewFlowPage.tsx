import { Alert, Anchor, Button, Group, Radio } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import { memberQuery } from "../../../api/session.ts";
import { discardDraft } from "../../../parts/editor/drafts.ts";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { isValidName, type NewPath, NewPathFields, useOwners } from "../../../parts/items/NewPath.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { createDraftFlow } from "./queries.ts";
import { TEMPLATES } from "./templates/templates.ts";

/** Asks for a path and a template, then opens the flow editor. */
export default function NewFlowPage() {
  const workspace = useWorkspace();
  const [, go] = useLocation();
  const username = useQuery(memberQuery(workspace)).data?.username;
  const owners = useOwners(workspace);
  const [place, setPlace] = useState<NewPath>({ owner: "", name: "", summary: "" });
  const [template, setTemplate] = useState(TEMPLATES[0]!.id);
  const owner = place.owner || (owners[0] ?? "");
  const path = `${owner}/${place.name}`;
  const isReady = username !== undefined && owner !== "" && isValidName(place.name);
  const begin = useMutation({
    mutationFn: async (isBegunAnew: boolean) => {
      const taken = await findTaken(workspace, path);
      if (taken && !(taken.by !== undefined && isBegunAnew)) return { taken, path };
      const { flow } = TEMPLATES.find(({ id }) => id === template)!;
      if (taken) await discardDraft({ workspace, kind: "flow", path });
      await createDraftFlow(workspace, {
        ...flow,
        path,
        summary: place.summary || String(flow.summary ?? ""),
      });
      await queryClient.invalidateQueries({ queryKey: [workspace, "flows"] });
      go(linkTo.draw(workspace, path));
      return undefined;
    },
  });
  const restore = useMutation({
    mutationFn: async () => {
      const body = { archived: false };
      await callOperation("POST /w/{workspace}/flows/archive/{path}", { workspace, path, body });
      await queryClient.invalidateQueries({ queryKey: [workspace, "flows"] });
      go(linkTo.flow(workspace, path));
    },
  });
  // If the path is in use, the user is asked for another one.
  const taken = begin.data?.path === path ? begin.data.taken : undefined;
  return (
    <div className="page">
      <PageHead
        title="New flow"
        above={
          <Anchor component={Link} href={linkTo.home(workspace)} fz="sm">
            Home
          </Anchor>
        }
        about="Steps that run in sequence, in parallel, in loops, or after an approval."
      />
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) begin.mutate(false);
        }}
      >
        <div className="line at-top">
          <NewPathFields owners={owners} value={place} change={setPlace} />
        </div>
        <Radio.Group label="Start from" value={template} onChange={setTemplate}>
          <div className="stack" style={{ marginTop: "0.5rem" }}>
            {TEMPLATES.map(({ id, label, about }) => (
              <Radio key={id} value={id} label={label} description={about} />
            ))}
          </div>
        </Radio.Group>
        {taken?.isArchived && (
          <Alert color="yellow" variant="light">
            <Group justify="space-between">
              <span>There is an archived flow at {path}: take another name, or restore that flow.</span>
              <Button size="xs" loading={restore.isPending} onClick={() => restore.mutate()}>
                Restore it
              </Button>
            </Group>
          </Alert>
        )}
        {taken && !taken.isArchived && taken.by === undefined && (
          <Alert color="yellow" variant="light">
            There is a flow at {path} already: take another name, or{" "}
            <Anchor component={Link} href={linkTo.flow(workspace, path)} inherit>
              look at that flow
            </Anchor>
            .
          </Alert>
        )}
        {taken && taken.by !== undefined && (
          <Alert color="yellow" variant="light">
            <Group justify="space-between">
              <span>
                {taken.by === username
                  ? `You have a draft of a new flow at ${path}, which is not deployed.`
                  : `${taken.by} has a draft of a new flow at ${path}, which is not deployed.`}
              </span>
              <Group gap="xs">
                <Button size="xs" component={Link} href={linkTo.draw(workspace, path)}>
                  Continue editing
                </Button>
                {taken.by === username && (
                  <Button size="xs" variant="default" onClick={() => begin.mutate(true)}>
                    Discard it and start again
                  </Button>
                )}
              </Group>
            </Group>
          </Alert>
        )}
        {restore.error && <Problem error={restore.error} />}
        {begin.error && <Problem error={begin.error} />}
        <Button
          type="submit"
          w="fit-content"
          disabled={!isReady || taken !== undefined}
          loading={begin.isPending}
        >
          Create and edit
        </Button>
      </form>
    </div>
  );
}

interface Taken {
  /** Username of the user who began it; undefined if it was deployed. */
  by: string | undefined;
  isArchived: boolean;
}

/** Looks for a flow at a path. One that was archived before it was ever deployed is replaced. */
async function findTaken(workspace: string, path: string): Promise<Taken | undefined> {
  if (await callOperation("GET /w/{workspace}/flows/exists/{path}", { workspace, path })) {
    const found = await callOperation("GET /w/{workspace}/flows/get/{path}", { workspace, path });
    return { by: found.draft_only ? found.edited_by : undefined, isArchived: false };
  }
  const query = { path_exact: path, show_archived: true };
  const archived = await callOperation("GET /w/{workspace}/flows/list", { workspace, query });
  return archived.length > 0 ? { by: undefined, isArchived: true } : undefined;
}
