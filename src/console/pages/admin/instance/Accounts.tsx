import { Badge, Button, Checkbox, Group, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { GlobalUserInfo } from "../../../api/interface.d.ts";
import { whoamiQuery } from "../../../api/session.ts";
import { FormDialog, useAction, useConfirmation } from "../../../parts/elements/actions.tsx";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { useSearch } from "../../../parts/items/Search.tsx";
import { accountsQuery } from "./queries.ts";

export function Accounts() {
  const accounts = useQuery(accountsQuery);
  const me = useQuery(whoamiQuery).data;
  const [isCreating, setCreating] = useState(false);
  const [renewed, setRenewed] = useState<string>();
  const [rows, field] = useSearch(
    "accounts",
    "Search by e-mail or name",
    accounts.data ?? [],
    ({ email, name, username }) => `${email} ${name ?? ""} ${username ?? ""}`,
  );
  const { act } = useAction();
  const { ask, dialog } = useConfirmation();
  const setFlags = (email: string, flags: { is_super_admin?: boolean; is_devops?: boolean }, done: string) =>
    act(async () => {
      await callOperation("POST /users/update/{email}", { email, body: flags });
      return done;
    });
  const remove = (email: string) =>
    ask({
      title: `Delete the account ${email}?`,
      text: "They are removed from all workspaces, and their tokens are revoked. Their items are kept.",
      label: "Delete",
      name: email,
      action: async () => {
        await callOperation("DELETE /users/delete/{email}", { email });
        return `The account ${email} was deleted`;
      },
    });
  const columns: Column<GlobalUserInfo>[] = [
    {
      name: "Account",
      width: "minmax(0, 2fr)",
      cell: ({ email, name, username }) => (
        <>
          <div style={{ fontWeight: 500 }}>{email}</div>
          <div className="quiet">{[username, name].filter(Boolean).join(", ")}</div>
        </>
      ),
    },
    {
      name: "Role",
      width: "10rem",
      cell: ({ super_admin, devops }) =>
        super_admin ? (
          <Badge variant="light">super admin</Badge>
        ) : devops ? (
          <Badge variant="default">devops</Badge>
        ) : (
          ""
        ),
    },
    {
      name: "Signs in with",
      width: "8rem",
      cell: ({ login_type }) => <span className="quiet">{login_type}</span>,
    },
    {
      name: "",
      width: "2rem",
      cell: ({ email, super_admin, devops, login_type }) => (
        <RowMenu
          of={email}
          entries={[
            login_type === "password" && { label: "Set a new password", onClick: () => setRenewed(email) },
            email !== me?.email && {
              label: super_admin ? "No longer super admin" : "Make super admin",
              onClick: () =>
                setFlags(
                  email,
                  { is_super_admin: !super_admin },
                  super_admin ? `${email} is no longer super admin` : `${email} is super admin now`,
                ),
            },
            email !== me?.email &&
              !super_admin && {
                label: devops ? "No longer devops" : "Make devops",
                onClick: () =>
                  setFlags(
                    email,
                    { is_devops: !devops },
                    devops ? `${email} is no longer devops` : `${email} is devops now`,
                  ),
              },
            email !== me?.email && { label: "Delete", onClick: () => remove(email), isDangerous: true },
          ]}
        />
      ),
    },
  ];
  if (accounts.error) return <Problem error={accounts.error} retry={() => void accounts.refetch()} />;
  if (!accounts.data) return <Loading />;
  return (
    <>
      <Group justify="flex-end" mb="sm">
        <Button onClick={() => setCreating(true)}>New account</Button>
      </Group>
      {field}
      {rows.length === 0 ? (
        <Empty title="Nothing matches">Change the search.</Empty>
      ) : (
        <DataTable label="Accounts" columns={columns} rows={rows} keyOf={({ email }) => email} />
      )}
      {isCreating && <NewAccount close={() => setCreating(false)} />}
      {renewed && <NewPassword key={renewed} email={renewed} close={() => setRenewed(undefined)} />}
      {dialog}
    </>
  );
}

const MIN_PASSWORD_CHARS = 8;

function NewAccount({ close }: { close: () => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [isSuperAdmin, setSuperAdmin] = useState(false);
  return (
    <FormDialog
      title="New account"
      opened
      close={close}
      label="Create"
      isReady={email.includes("@") && password.length >= MIN_PASSWORD_CHARS}
      action={async () => {
        const body = { email: email.trim(), password, super_admin: isSuperAdmin };
        await callOperation("POST /users/create", { body });
        return `${email.trim()} can sign in now`;
      }}
    >
      <TextInput
        data-autofocus
        type="email"
        label="E-mail"
        autoComplete="off"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordField value={password} set={setPassword} />
      <Checkbox
        label="Super admin"
        description="Can do everything in all workspaces"
        checked={isSuperAdmin}
        onChange={(event) => setSuperAdmin(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}

function NewPassword({ email, close }: { email: string; close: () => void }) {
  const [password, setPassword] = useState("");
  return (
    <FormDialog
      title={`New password for ${email}`}
      opened
      close={close}
      label="Set the password"
      isReady={password.length >= MIN_PASSWORD_CHARS}
      action={async () => {
        await callOperation("POST /users/set_password_of/{user}", { user: email, body: { password } });
        return "The password is set";
      }}
    >
      <PasswordField value={password} set={setPassword} />
    </FormDialog>
  );
}

function PasswordField({ value, set }: { value: string; set: (value: string) => void }) {
  return (
    <PasswordInput
      label="Password"
      description={`At least ${MIN_PASSWORD_CHARS} characters. Tell the user yourself: it is not sent by e-mail.`}
      autoComplete="new-password"
      value={value}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
}
