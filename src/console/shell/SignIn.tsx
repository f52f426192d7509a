import { Anchor, Button, Divider, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import { toServerPath } from "../api/base.ts";
import { callOperation } from "../api/call.ts";
import { queryClient } from "../api/client.ts";
import { markSessionEnded } from "../api/connection.ts";
import { Problem } from "../parts/elements/Problem.tsx";

/** Returns the address to which login providers return: that of the current page. */
const getReturnAddress = () => encodeURIComponent(location.pathname + location.search);

const toReset = (email: string) => (email ? `/reset?${new URLSearchParams({ email })}` : "/reset");

/** Says what is wrong with a refused login. The server does not tell whether there is an account. */
const explain = (error: Error): Error =>
  error.message.endsWith("Invalid login") ? new Error("The e-mail or the password is wrong.") : error;

/** Sign-in form: password and configured providers. */
export function SignIn({ email: known, done }: { email?: string; done?: () => void }) {
  const [email, setEmail] = useState(known ?? "");
  const [password, setPassword] = useState("");
  const logins = useQuery({
    queryKey: ["logins"],
    queryFn: ({ signal }) => callOperation("GET /oauth/list_logins", {}, signal),
  });
  const mailsLinks = useQuery({
    queryKey: ["mails-links"],
    queryFn: ({ signal }) => callOperation("GET /auth/is_smtp_configured", {}, signal),
  }).data;
  const enter = useMutation({
    mutationFn: () => callOperation("POST /auth/login", { body: { email, password } }),
    async onSuccess() {
      markSessionEnded(false);
      await queryClient.invalidateQueries();
      done?.();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    enter.mutate();
  };
  const providers = logins.data?.oauth ?? [];
  const saml = logins.data?.saml;
  return (
    <Stack>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="E-mail"
            type="email"
            required
            withAsterisk={false}
            autoComplete="username"
            autoFocus={known === undefined}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            required
            withAsterisk={false}
            autoComplete="current-password"
            autoFocus={known !== undefined}
            {...(known === undefined ? {} : { "data-autofocus": true })}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {enter.error && <Problem error={explain(enter.error)} />}
          <Button type="submit" loading={enter.isPending} fullWidth>
            Sign in
          </Button>
          {mailsLinks && (
            <Anchor component={Link} href={toReset(email)} fz="sm">
              Forgot your password?
            </Anchor>
          )}
        </Stack>
      </form>
      {(providers.length > 0 || saml) && (
        <>
          <Divider label="or" />
          {providers.map(({ type, display_name }) => (
            <Button
              key={type}
              component="a"
              variant="default"
              href={toServerPath(`api/oauth/login/${encodeURIComponent(type)}?rd=${getReturnAddress()}`)}
            >
              Sign in with {display_name}
            </Button>
          ))}
          {saml && (
            <Button component="a" variant="default" href={saml}>
              Sign in with SAML
            </Button>
          )}
        </>
      )}
    </Stack>
  );
}
