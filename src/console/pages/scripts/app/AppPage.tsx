import { Alert, Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { memberQuery, whoamiQuery } from "../../../api/session.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { AppView } from "./AppView.tsx";
import { readApp } from "./read-app.ts";

/** Shows an app, as far as its components are of supported kinds. */
export default function AppPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const found = useQuery({
    queryKey: [workspace, "apps", "one", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/apps/get/p/{path}", { workspace, path }, signal),
  });
  const email = useQuery(whoamiQuery).data?.email ?? "";
  const username = useQuery(memberQuery(workspace)).data?.username ?? "";
  const components = useMemo(() => readApp(found.data?.value), [found.data?.value]);
  return (
    <div className="page page-wide">
      <PageHead
        title={found.data?.summary || path}
        above={
          <Anchor component={Link} href={linkTo.home(workspace)} fz="sm">
            Home
          </Anchor>
        }
        about={<span className="mono">{path}</span>}
      />
      {found.error ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : !found.data ? (
        <Loading />
      ) : components ? (
        <AppView workspace={workspace} path={path} viewer={{ email, username }} components={components} />
      ) : (
        <UnsupportedRawApp />
      )}
    </div>
  );
}

/** Explains why a raw app is not rendered. */
export const UnsupportedRawApp = () => (
  <Alert color="gray" variant="light" title="This app is not shown here">
    It is a raw app, which consists of code instead of components. Open it in a client that supports raw apps.
  </Alert>
);
