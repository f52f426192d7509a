import { Alert, Anchor, Button, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import { Problem } from "../../parts/elements/Problem.tsx";
import { EmailField, NewPasswordField } from "./fields.tsx";
import { StartCard } from "./StartCard.tsx";

/** Password reset: requests a link, and is the target of that link. */
export function ResetPage() {
  // Read once: the token is removed from the address and the history immediately.
  const [token] = useState(() => location.hash.slice(1));
  if (token !== "" && location.hash !== "") {
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  return token === "" ? <AskForLink /> : <ChoosePassword token={token} />;
}

const backToLogin = (
  <Anchor component={Link} href="/login" fz="sm">
    Sign in
  </Anchor>
);

function AskForLink() {
  const [search] = useSearchParams();
  const [email, setEmail] = useState(search.get("email") ?? "");
  const request = useMutation({
    mutationFn: () => callOperation("POST /auth/request_password_reset", { body: { email } }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  return (
    <StartCard title="Forgot your password?" about="We mail you a link to set a new password.">
      {request.isSuccess ? (
        <Alert role="status" color="teal" variant="light" title="Check your mail">
          If {email} has an account with a password here, a link is on its way. It works once, within an hour.
        </Alert>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <EmailField value={email} change={setEmail} />
            {request.error && <Problem error={request.error} />}
            <Button type="submit" loading={request.isPending} fullWidth>
              Mail me a link
            </Button>
          </Stack>
        </form>
      )}
      {backToLogin}
    </StartCard>
  );
}

function ChoosePassword({ token }: { token: string }) {
  const [password, setPassword] = useState("");
  const set = useMutation({
    mutationFn: () => callOperation("POST /auth/reset_password", { body: { token, new_password: password } }),
    // The reset ended this browser's session too.
    onSuccess: () => queryClient.invalidateQueries(),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate();
  };
  return (
    <StartCard title="Choose another password">
      {set.isSuccess ? (
        <>
          <Text role="status">The password is set, and all sessions of the account have ended.</Text>
          <Button component={Link} href="/login" fullWidth>
            Sign in with it
          </Button>
        </>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <NewPasswordField label="New password" autoFocus value={password} change={setPassword} />
            {set.error && (
              <>
                <Problem error={set.error} />
                <Anchor href="?" fz="sm">
                  Ask for another link
                </Anchor>
              </>
            )}
            <Button type="submit" loading={set.isPending} fullWidth>
              Set the password
            </Button>
          </Stack>
        </form>
      )}
    </StartCard>
  );
}
