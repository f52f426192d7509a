import { Alert, Anchor, Button } from "@mantine/core";
import { IconPencil, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "wouter";
import { useMayWrite } from "../../../api/item-rights.ts";
import { useMay } from "../../../api/session.ts";
import { Code } from "../../../parts/editor/lazy.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { useTabs } from "../../../parts/elements/TabBar.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { Graph } from "../../../parts/flow/Graph.tsx";
import { buildTree, findStep } from "../../../parts/flow/tree.ts";
import { Access } from "../../../parts/items/access/Access.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { useUrlParameters } from "../../../parts/navigation/use-url-parameters.ts";
import { Triggers } from "../view/Triggers.tsx";
import { Webhooks } from "../view/Webhooks.tsx";
import { type Flow, flowQuery } from "./queries.ts";
import { StepDetail } from "./StepDetail.tsx";
import { Versions } from "./Versions.tsx";
import { formatYaml } from "./yaml/text.ts";
import { YamlTab } from "./yaml/YamlTab.tsx";

/** Page of a flow; of one that was never deployed too. */
export default function FlowPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const found = useQuery(flowQuery(workspace, path));
  const flow = found.data;
  const isAuthor = useMay(workspace)("POST /w/{workspace}/flows/update/{path}", "author");
  const mayWrite = useMayWrite(workspace)(path, flow?.extra_perms) && isAuthor;
  return (
    <div className="page">
      <PageHead
        title={flow?.summary || path}
        above={
          <Anchor component={Link} href={linkTo.home(workspace)} fz="sm">
            Home
          </Anchor>
        }
        about={
          <>
            <span className="mono">{path}</span>
            {flow && (
              <>
                {" "}
                · edited by {flow.edited_by} <Moment at={flow.edited_at} />
              </>
            )}
            {flow?.description && <div style={{ whiteSpace: "pre-wrap" }}>{flow.description}</div>}
          </>
        }
      >
        {flow && !flow.draft_only && (
          <Button
            component={Link}
            href={linkTo.begin(workspace, "flow", path)}
            leftSection={<IconPlayerPlay size={16} />}
          >
            Run
          </Button>
        )}
        {flow && mayWrite && (
          <Button
            variant={flow.draft_only ? "filled" : "default"}
            component={Link}
            href={linkTo.draw(workspace, path)}
            leftSection={<IconPencil size={16} />}
          >
            {flow.draft_only ? "Test or deploy" : "Edit"}
          </Button>
        )}
        <Button variant="default" component={Link} href={linkTo.runs(workspace, { path, kind: "flows" })}>
          Runs
        </Button>
      </PageHead>
      {flow?.draft_only && (
        <Alert variant="light" color="blue" mb="md">
          This flow was never deployed: nothing can run it by its path yet.
          {mayWrite && " It can be tested and deployed in its editor."}
        </Alert>
      )}
      {flow ? (
        <Shown workspace={workspace} flow={flow} mayWrite={mayWrite} />
      ) : found.error ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

interface Props {
  workspace: string;
  flow: Flow;
  mayWrite: boolean;
}

function Shown({ workspace, flow, mayWrite }: Props) {
  const [tab, bar] = useTabs([
    { value: "graph", label: "Graph" },
    { value: "yaml", label: "YAML" },
    { value: "versions", label: "Versions" },
    { value: "webhooks", label: "Webhooks" },
    { value: "triggers", label: "Triggers" },
    { value: "access", label: "Access" },
  ]);
  return (
    <>
      {bar}
      {tab === "graph" && <Steps workspace={workspace} flow={flow} />}
      {tab === "yaml" &&
        (mayWrite ? (
          <YamlTab workspace={workspace} flow={flow} />
        ) : (
          <Code label="YAML of the flow" language="yaml" value={formatYaml(flow)} />
        ))}
      {tab === "versions" && <Versions workspace={workspace} flow={flow} mayWrite={mayWrite} />}
      {tab === "webhooks" && (
        <Webhooks workspace={workspace} kind="flow" path={flow.path} mayWrite={mayWrite} />
      )}
      {tab === "triggers" && <Triggers workspace={workspace} kind="flow" path={flow.path} />}
      {tab === "access" && <Access workspace={workspace} kind="flow" path={flow.path} />}
    </>
  );
}

function Steps({ workspace, flow }: { workspace: string; flow: Flow }) {
  const { get, set } = useUrlParameters();
  const tree = useMemo(() => buildTree(flow.value), [flow.value]);
  const selected = get("step");
  const step = selected ? findStep(flow.value, selected) : undefined;
  return (
    <div className="flow-run">
      <section className="panel" aria-label="Steps">
        <Graph {...tree} selected={selected} select={(id) => set({ step: id })} />
      </section>
      {step && (
        <div className="flow-run-step">
          <StepDetail workspace={workspace} step={step} />
        </div>
      )}
    </div>
  );
}
