import { Alert, Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "wouter";
import { schemeLabel } from "../../../parts/calling/signatures.ts";
import { runnable } from "../../../parts/items/runnables.ts";
import { Loading } from "../../../parts/Loading.tsx";
import { PageHead } from "../../../parts/PageHead.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { type RunnableKind, to, useWorkspace } from "../../../parts/places.ts";
import { BeginForm } from "./BeginForm.tsx";
import { useEarlierArguments } from "./queries.ts";
import { readLink } from "./shared-link.ts";

/** Run form of a script or flow. */
export default function BeginPage() {
  const workspace = useWorkspace();
  const { kind: given, "*": path = "" } = useParams<{ kind: string; "*": string }>();
  const kind: RunnableKind = given === "flow" ? "flow" : "script";
  const [search] = useSearchParams();
  const found = useQuery(runnable(workspace, kind, path));
  const earlier = useEarlierArguments(workspace, search.get("from"));
  const ready = found.data && (search.get("from") === null || !earlier.isPending);
  return (
    <div className="page page-narrow">
      <PageHead
        title={found.data?.summary || path}
        above={
          <Anchor component={Link} href={to.home(workspace)} fz="sm">
            Home
          </Anchor>
        }
        about={
          <>
            <Anchor
              component={Link}
              href={(kind === "flow" ? to.flow : to.script)(workspace, path)}
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
          Requests must have a {schemeLabel(found.data.signature.scheme)} signature, which this page cannot
          create. You can test the code in the editor.
        </Alert>
      )}
      {ready ? (
        <BeginForm
          key={`${kind} ${path} ${search.get("from")}`}
          workspace={workspace}
          kind={kind}
          path={path}
          schema={found.data.schema}
          initial={(earlier.data as Record<string, unknown> | undefined) ?? readLink() ?? {}}
        />
      ) : (
        !found.error && <Loading rows={4} />
      )}
    </div>
  );
}
