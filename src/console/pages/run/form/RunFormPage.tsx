import { Alert, Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "wouter";
import { getSchemeLabel } from "../../../parts/calling/signatures.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { runnableQuery } from "../../../parts/items/runnables.ts";
import { linkTo, type RunnableKind, useWorkspace } from "../../../parts/navigation/places.ts";
import { useEarlierArguments } from "./queries.ts";
import { RunForm } from "./RunForm.tsx";
import { parseSharedLink } from "./shared-link.ts";

/** Run form of a script or flow. */
export default function RunFormPage() {
  const workspace = useWorkspace();
  const { kind: given, "*": path = "" } = useParams<{ kind: string; "*": string }>();
  const kind: RunnableKind = given === "flow" ? "flow" : "script";
  const [search] = useSearchParams();
  const found = useQuery(runnableQuery(workspace, kind, path));
  const earlier = useEarlierArguments(workspace, search.get("from"));
  const ready = found.data && (search.get("from") === null || !earlier.isPending);
  return (
    <div className="page page-narrow">
      <PageHead
        title={found.data?.summary || path}
        above={
          <Anchor component={Link} href={linkTo.home(workspace)} fz="sm">
            Home
          </Anchor>
        }
        about={
          <>
            <Anchor
              component={Link}
              href={(kind === "flow" ? linkTo.flow : linkTo.script)(workspace, path)}
              className="mono"
              underline="always"
            >
              {path}
            </Anchor>
            {found.data?.description && <div>{found.data.description}</div>}
          </>
        }
      />
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {earlier.error && <Problem error={earlier.error} />}
      {found.data?.signature && (
        <Alert color="yellow" variant="light" mb="md" title="It starts by signed requests only">
          Requests must have a {getSchemeLabel(found.data.signature.scheme)} signature, which this page cannot
          create. You can test the code in the editor.
        </Alert>
      )}
      {ready ? (
        <RunForm
          key={`${kind} ${path} ${search.get("from")}`}
          workspace={workspace}
          kind={kind}
          path={path}
          schema={found.data.schema}
          initial={(earlier.data as Record<string, unknown> | undefined) ?? parseSharedLink() ?? {}}
        />
      ) : (
        !found.error && <Loading rows={4} />
      )}
    </div>
  );
}
