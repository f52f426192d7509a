import { Radio, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { FormDialog } from "../../../parts/elements/actions.tsx";
import { ROLES, type Role, toRoleFlags } from "./roles.ts";

interface Props {
  workspace: string;
  opened: boolean;
  close: () => void;
}

export function InviteDialog({ workspace, opened, close }: Props) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("developer");
  const invite = async () => {
    await callOperation("POST /w/{workspace}/workspaces/invite_user", {
      workspace,
      body: { email: email.trim(), ...toRoleFlags(role) },
    });
    setEmail("");
    return `${email.trim()} is invited and joins by accepting`;
  };
  return (
    <FormDialog
      title="Invite somebody"
      opened={opened}
      close={close}
      action={invite}
      label="Invite"
      isReady={email.includes("@")}
    >
      <TextInput
        data-autofocus
        type="email"
        label="E-mail"
        description="The invitation is shown when they sign in with this address."
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Radio.Group label="Role" value={role} onChange={(value) => setRole(value as Role)}>
        <Stack gap="xs" mt="xs">
          {ROLES.map(({ value, label, meaning }) => (
            <Radio key={value} value={value} label={label} description={meaning} />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
}
