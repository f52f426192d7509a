import { Button, PasswordInput, Stack } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation, useParams } from "wouter";
import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import { Loading } from "../../parts/elements/Loading.tsx";
import { Problem } from "../../parts/elements/Problem.tsx";
import { EmailField, NewPasswordField } from "./fields.tsx";
import { StartCard } from "./StartCard.tsx";

/** Creates the first admin account by the printed setup link. */
export function SetupPage() {
  const { token } = useParams<{ token: string }>();
  const [, go] = useLocation();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const differs = again !== "" && again !== password;
  const link = useQuery({
    queryKey: ["setup", token],
    queryFn: ({ signal }) => callOperation("GET /setup/{token}", { token }, signal),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const create = useMutation({
    mutationFn: () =>
      callOperation("POST /setup/{token}", { token, body: { email, password, password_again: again } }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ["whoami"] });
      go("/workspaces", { replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <StartCard
      title="Set up svc"
      about="Create the first account of this server. It can do everything: add users, create workspaces, change settings."
    >
      {link.isPending && <Loading rows={2} />}
      {link.error && <Problem error={link.error} />}
      {link.isSuccess && (
        <form onSubmit={submit}>
          <Stack>
            <EmailField value={email} change={setEmail} />
            <NewPasswordField label="Password" value={password} change={setPassword} />
            <PasswordInput
              label="The same password again"
              required
              withAsterisk={false}
              autoComplete="new-password"
              error={differs && "The passwords differ"}
              value={again}
              onChange={(event) => setAgain(event.currentTarget.value)}
            />
            {create.error && <Problem error={create.error} />}
            <Button type="submit" disabled={differs} loading={create.isPending} fullWidth>
              Create the account
            </Button>
          </Stack>
        </form>
      )}
    </StartCard>
  );
}
