import { Anchor, Button, Divider, Group, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { useMutation, useQueries, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { toServerPath } from "../../api/base.ts";
import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import { memberQuery, myWorkspacesQuery, whoamiQuery } from "../../api/session.ts";
import { Loading } from "../../parts/elements/Loading.tsx";
import { notifyError, Problem } from "../../parts/elements/Problem.tsx";
import { linkTo } from "../../parts/navigation/places.ts";
import { StartCard } from "./StartCard.tsx";

const invitations = {
  queryKey: ["invitations"],
  queryFn: ({ signal }: { signal: AbortSignal }) => callOperation("GET /users/list_invites", {}, signal),
};

const again = () => queryClient.invalidateQueries();

const onlySuperAdminsCreate = {
  queryKey: ["workspaces", "only-super-admins-create"],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const key = "create_workspace_require_superadmin";
    return (await callOperation("GET /settings/global/{key}", { key }, signal)) !== false;
  },
};

/** Whether the user may create workspaces; undefined until that is known. */
function useMayCreate(): boolean | undefined {
  const isSuperAdmin = useQuery(whoamiQuery).data?.super_admin;
  const mine = useQuery(myWorkspacesQuery).data?.workspaces;
  const isReserved = useQuery({ ...onlySuperAdminsCreate, enabled: isSuperAdmin === false }).data;
  const isOpen = isReserved === false && mine !== undefined;
  const roles = useQueries({ queries: isOpen ? mine.map(({ id }) => memberQuery(id)) : [] });
  if (isSuperAdmin) return true;
  if (isReserved) return false;
  if (!isOpen || roles.some(({ isPending }) => isPending)) return undefined;
  // Who is an operator everywhere may not.
  return roles.length === 0 || roles.some(({ data }) => data?.operator === false);
}

const FIRST_WORKSPACE =
  "Scripts, flows, secrets and people belong to a workspace. One for a team is a good start.";
const NO_WORKSPACE =
  "You are not in a workspace yet. Ask an admin of one to invite you by your e-mail; the invitation is shown here.";

/** Lists workspaces and invitations, and creates workspaces. */
export function WorkspacesPage() {
  const me = useQuery(whoamiQuery).data;
  const mine = useQuery(myWorkspacesQuery);
  const invites = useQuery(invitations).data ?? [];
  const [, go] = useLocation();
  const accept = useMutation({
    mutationFn: (workspace_id: string) =>
      callOperation("POST /users/accept_invite", { body: { workspace_id } }),
    async onSuccess(_said, id) {
      await again();
      go(linkTo.home(id));
    },
    onError(error) {
      notifyError(error);
      // It may have been withdrawn.
      void queryClient.invalidateQueries({ queryKey: invitations.queryKey });
    },
  });
  const workspaces = mine.data?.workspaces ?? [];
  const isFirst = mine.isSuccess && workspaces.length === 0 && invites.length === 0;
  const mayCreate = useMayCreate();
  return (
    <StartCard
      title={isFirst && mayCreate ? "Make a workspace" : "Workspaces"}
      about={isFirst ? (mayCreate === false ? NO_WORKSPACE : FIRST_WORKSPACE) : undefined}
    >
      {mine.isPending && <Loading rows={3} />}
      {mine.error && <Problem error={mine.error} retry={() => void mine.refetch()} />}
      <Stack gap={4}>
        {workspaces.map(({ id, name }) => (
          <UnstyledButton key={id} component={Link} href={linkTo.home(id)} className="nav-link">
            <Group justify="space-between" wrap="nowrap">
              <span className="wrap">{name}</span>
              <IconArrowRight size={16} aria-hidden />
            </Group>
          </UnstyledButton>
        ))}
        {invites.map(({ workspace_id }) => (
          <Group key={workspace_id} justify="space-between" className="nav-link">
            <Text>{workspace_id}</Text>
            <Button size="xs" loading={accept.isPending} onClick={() => accept.mutate(workspace_id)}>
              Accept the invitation
            </Button>
          </Group>
        ))}
      </Stack>
      {mine.isSuccess && mayCreate && !isFirst && <Divider label="a new one" />}
      {mine.isSuccess && mayCreate && <NewWorkspace />}
      <Text c="dimmed" fz="xs">
        Signed in as {me?.email}.{" "}
        <Anchor
          component="button"
          fz="xs"
          onClick={() =>
            void callOperation("POST /auth/logout", {}).then(
              () => location.assign(toServerPath("login")),
              notifyError,
            )
          }
        >
          Sign out
        </Anchor>
      </Text>
    </StartCard>
  );
}

/** Derives an id from a name: `Team One` → `team-one`. */
const deriveId = (name: string) =>
  name
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 50);

function NewWorkspace() {
  const [, go] = useLocation();
  const [name, setName] = useState("");
  const id = deriveId(name);
  const create = useMutation({
    mutationFn: () => callOperation("POST /workspaces/create", { body: { id, name } }),
    async onSuccess() {
      await again();
      go(linkTo.home(id));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Name"
          required
          withAsterisk={false}
          placeholder="Operations"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          description={id === "" ? "The workspace id is derived from the name." : `Its id will be ${id}.`}
          inputWrapperOrder={["label", "input", "description", "error"]}
        />
        {create.error && <Problem error={create.error} />}
        <Button type="submit" loading={create.isPending} disabled={id === ""} fullWidth>
          Make the workspace
        </Button>
      </Stack>
    </form>
  );
}
