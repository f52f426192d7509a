import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Redirect, useLocation, useSearchParams } from "wouter";
import { whoamiQuery } from "../../api/session.ts";
import { SignIn } from "../../shell/SignIn.tsx";
import { StartCard } from "./StartCard.tsx";

/** Accepts only paths of this console, to prevent open redirects. */
const within = (path: string | null) => (path !== null && /^\/(?![/\\])/.test(path) ? path : "/");

export function LoginPage() {
  const [, go] = useLocation();
  const [search] = useSearchParams();
  // A login provider redirects back to this page after the login.
  const me = useQuery(whoamiQuery).data;
  const then = within(search.get("then"));
  if (me) return <Redirect to={then} replace />;
  return (
    <StartCard title="Sign in">
      <SignIn done={() => go(then, { replace: true })} />
      <Text c="dimmed" fz="xs">
        On a new server, open the setup link that <code>svc serve</code> printed when it started. Admins can
        set another password for users who forgot theirs.
      </Text>
    </StartCard>
  );
}
