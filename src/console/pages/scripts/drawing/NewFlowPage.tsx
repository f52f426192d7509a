import { Alert, Anchor, Button, Group, Radio } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { call } from "../../../api/call.ts";
import { whoami } from "../../../api/session.ts";
import { isName, type NewPath, NewPathFields, useOwners } from "../../../parts/items/NewPath.tsx";
import { PageHead } from "../../../parts/PageHead.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to, useWorkspace } from "../../../parts/places.ts";
import { readNewFlow, writeNewFlow } from "./new-flows.ts";
import { TEMPLATES } from "./templates/templates.ts";

/** Asks for a path and a template, then opens the flow editor. */
export default function NewFlowPage() {
  const workspace = useWorkspace();
  const [, go] = useLocation();
  const email = useQuery(whoami).data?.email;
  const owners = useOwners(workspace);
  const [place, setPlace] = useState<NewPath>({ owner: "", name: "", summary: "" });
  const [template, setTemplate] = useState(TEMPLATES[0]!.id);
  const owner = place.owner || (owners[0] ?? "");
  const path = `${owner}/${place.name}`;
  const isReady = email !== undefined && owner !== "" && isName(place.name);
  const begin = useMutation({
    mutationFn: async (isBegunAnew: boolean) => {
      const taken = await findTaken(email!, workspace, path);
      if (taken && !(taken === "begun" && isBegunAnew)) return { taken, path };
      const { flow } = TEMPLATES.find(({ id }) => id === template)!;
      writeNewFlow(email!, workspace, {
        ...flow,
        path,
        summary: place.summary || String(flow.summary ?? ""),
      });
      go(to.draw(workspace, path));
      return undefined;
    },
  });
  // If the path is in use, the user is asked for another one.
  const taken = begin.data?.path === path ? begin.data.taken : undefined;
  return (
    <div className="page">
      <PageHead
        title="New flow"
        above={
          <Anchor component={Link} href={to.home(workspace)} fz="sm">
            Home
          </Anchor>
        }
        about="Steps that run one after the other, side by side, again and again, or after an approval."
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
        <Radio.Group label="Begin with" value={template} onChange={setTemplate}>
          <div className="stack" style={{ marginTop: "0.5rem" }}>
            {TEMPLATES.map(({ id, label, about }) => (
              <Radio key={id} value={id} label={label} description={about} />
            ))}
          </div>
        </Radio.Group>
        {taken === "deployed" && (
          <Alert color="yellow" variant="light">
            There is a flow at {path} already: take another name, or{" "}
            <Anchor component={Link} href={to.flow(workspace, path)} inherit>
              look at that flow
            </Anchor>
            .
          </Alert>
        )}
        {taken === "begun" && (
          <Alert color="yellow" variant="light">
            <Group justify="space-between">
              <span>A new flow was begun at {path} in this browser, and not deployed.</span>
              <Group gap="xs">
                <Button size="xs" component={Link} href={to.draw(workspace, path)}>
                  Go on with it
                </Button>
                <Button size="xs" variant="default" onClick={() => begin.mutate(true)}>
                  Discard it and start again
                </Button>
              </Group>
            </Group>
          </Alert>
        )}
        {begin.error && <Problem error={begin.error} />}
        <Button
          type="submit"
          w="fit-content"
          disabled={!isReady || taken !== undefined}
          loading={begin.isPending}
        >
          Draw it
        </Button>
      </form>
    </div>
  );
}

/** Returns what exists at a path: a deployed flow, or a new one kept in this browser. */
async function findTaken(
  email: string,
  workspace: string,
  path: string,
): Promise<"deployed" | "begun" | undefined> {
  if (await call("GET /w/{workspace}/flows/exists/{path}", { workspace, path })) return "deployed";
  return readNewFlow(email, workspace, path) ? "begun" : undefined;
}
