/** Routes: maps addresses to pages. */
import { Center, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useEffect } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { ApiError } from "./api/errors.ts";
import { memberQuery, myWorkspacesQuery, useMay, whoamiQuery } from "./api/session.ts";
import type { Audience } from "./pages/audiences.ts";
import { routes } from "./pages/routes.ts";
import { LoginPage } from "./pages/start/LoginPage.tsx";
import { MissingPage } from "./pages/start/MissingPage.tsx";
import { NotForYouPage } from "./pages/start/NotForYouPage.tsx";
import { NotMemberPage } from "./pages/start/NotMemberPage.tsx";
import { ResetPage } from "./pages/start/ResetPage.tsx";
import { SetupPage } from "./pages/start/SetupPage.tsx";
import { WorkspacesPage } from "./pages/start/WorkspacesPage.tsx";
import { Problem } from "./parts/elements/Problem.tsx";
import { useWorkspace } from "./parts/navigation/places.ts";
import { ErrorBoundary } from "./shell/ErrorBoundary.tsx";
import { Frame } from "./shell/Frame.tsx";
import { getLastWorkspace, storeLastWorkspace } from "./shell/last-workspace.ts";
import { SessionEnded } from "./shell/Notices.tsx";
import { Palette } from "./shell/Palette.tsx";
import { Shortcuts } from "./shell/Shortcuts.tsx";

const PublicAppPage = lazy(() => import("./pages/scripts/app/PublicAppPage.tsx"));

const waiting = (
  <Center mih="60vh">
    <Loader role="status" aria-label="Loading" />
  </Center>
);

export function App() {
  return (
    <Switch>
      <Route path="/login" component={LoginPage} />
      <Route path="/setup/:token" component={SetupPage} />
      <Route path="/reset" component={ResetPage} />
      <Route path="/public/:workspace/:secret">
        <ErrorBoundary>
          <Suspense fallback={waiting}>
            <PublicAppPage />
          </Suspense>
        </ErrorBoundary>
      </Route>
      <Route>
        <SignedIn />
      </Route>
    </Switch>
  );
}

/** Renders pages that require a session. */
function SignedIn() {
  const me = useQuery(whoamiQuery);
  const [location] = useLocation();
  if (me.error instanceof ApiError && me.error.status === 401 && !me.data) {
    return <Redirect to={`/login?then=${encodeURIComponent(location + window.location.search)}`} replace />;
  }
  if (me.error && !me.data) return <Problem error={me.error} retry={() => void me.refetch()} />;
  if (!me.data) return waiting;
  const last = getLastWorkspace();
  return (
    <>
      <SessionEnded />
      <Switch>
        <Route path="/">
          <Redirect to={last ? `/w/${last}` : "/workspaces"} replace />
        </Route>
        <Route path="/workspaces" component={WorkspacesPage} />
        <Route path="/w/:workspace/*?">
          <InWorkspace />
        </Route>
        <Route component={MissingPage} />
      </Switch>
    </>
  );
}

/** Whether the user may enter a workspace, and there is one; true until that is known. */
function useMayEnter(workspace: string): boolean {
  const me = useQuery(whoamiQuery).data;
  const mine = useQuery(myWorkspacesQuery).data?.workspaces;
  const { error } = useQuery(memberQuery(workspace));
  if (error instanceof ApiError && error.status === 404) return false;
  return !mine || me?.super_admin === true || mine.some(({ id }) => id === workspace);
}

function InWorkspace() {
  const workspace = useWorkspace();
  return useMayEnter(workspace) ? <Inside workspace={workspace} /> : <NotMemberPage />;
}

function Inside({ workspace }: { workspace: string }) {
  const [location] = useLocation();
  useEffect(() => storeLastWorkspace(workspace), [workspace]);
  const may = useMay(workspace);
  const destinations = routes.flatMap(({ below, nav, audience, load }) =>
    nav && (audience?.includes(may) ?? true) ? [{ ...nav, href: `/w/${workspace}${below}`, load }] : [],
  );
  return (
    <Frame destinations={destinations}>
      <Shortcuts />
      <Palette destinations={destinations} />
      <ErrorBoundary key={location}>
        <Suspense fallback={waiting}>
          <Switch>
            {routes.map(({ path, audience, Component }) => (
              <Route key={path} path={path}>
                {audience ? (
                  <Only audience={audience} workspace={workspace}>
                    <Component />
                  </Only>
                ) : (
                  <Component />
                )}
              </Route>
            ))}
            <Route component={MissingPage} />
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Frame>
  );
}

interface OnlyProps {
  audience: Audience;
  workspace: string;
  children: ReactNode;
}

/** Shows a page to its audience, and tells others for whom it is. */
function Only({ audience, workspace, children }: OnlyProps) {
  const member = useQuery(memberQuery(workspace));
  if (audience.includes(useMay(workspace))) return children;
  // An error is the page's to tell.
  if (member.error) return children;
  return member.data ? <NotForYouPage audience={audience} /> : waiting;
}
