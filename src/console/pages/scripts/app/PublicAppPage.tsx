import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useParams } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { UnsupportedRawApp } from "./AppPage.tsx";
import { AppView } from "./AppView.tsx";
import { readApp } from "./read-app.ts";

const NOBODY = { email: "", username: "" };

/** An app at its secret address; public apps need no login. */
export default function PublicAppPage() {
  const { workspace, secret } = useParams<{ workspace: string; secret: string }>();
  const found = useQuery({
    queryKey: [workspace, "apps", "public", secret],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/apps_u/public_app/{secret}", { workspace, secret }, signal),
    retry: false,
  });
  const components = useMemo(() => readApp(found.data?.value), [found.data?.value]);
  return (
    <main className="page">
      <PageHead title={found.data?.summary || "App"} />
      {found.error ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : !found.data ? (
        <Loading />
      ) : components ? (
        <AppView workspace={workspace} path={found.data.path} viewer={NOBODY} components={components} />
      ) : (
        <UnsupportedRawApp />
      )}
    </main>
  );
}
