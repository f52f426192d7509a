import { Anchor, Button, NumberInput, PasswordInput, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { type Fields, isRecord } from "../../../api/json.ts";
import { useMay, whoamiQuery } from "../../../api/session.ts";
import { useAction } from "../../../parts/elements/actions.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Section } from "../settings/Section.tsx";
import { loginProvidersQuery, settingsQuery } from "./queries.ts";

/** Tests the mail server, and lists the login providers. */
export function Mail() {
  const settings = useQuery(settingsQuery);
  const email = useQuery(whoamiQuery).data?.email;
  if (settings.error) return <Problem error={settings.error} retry={() => void settings.refetch()} />;
  if (!settings.data || email === undefined) return <Loading />;
  const stored = settings.data.find(({ name }) => name === "smtp_settings")?.value;
  return (
    <>
      <MailServer stored={isRecord(stored) ? stored : {}} email={email} />
      <Providers />
    </>
  );
}

const ENCRYPTIONS = [
  { value: "starttls", label: "STARTTLS, usually port 587" },
  { value: "tls", label: "TLS, usually port 465" },
  { value: "none", label: "None" },
];

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function MailServer({ stored, email }: { stored: Fields; email: string }) {
  const [host, setHost] = useState(textOf(stored.smtp_host));
  const [port, setPort] = useState(Number(stored.smtp_port ?? 587));
  const [username, setUsername] = useState(textOf(stored.smtp_username));
  const [password, setPassword] = useState("");
  const [from, setFrom] = useState(textOf(stored.smtp_from));
  const [encryption, setEncryption] = useState(
    stored.smtp_disable_tls === true ? "none" : stored.smtp_tls_implicit === true ? "tls" : "starttls",
  );
  const [to, setTo] = useState(email);
  const mayChange = useMay()("POST /settings/test_smtp", "superAdmin");
  const { act, isPending } = useAction();
  const tls = { tls_implicit: encryption === "tls", disable_tls: encryption === "none" };
  const isComplete = host.trim() !== "" && from.trim() !== "";
  const store = async () => {
    const { smtp_username: _username, smtp_password: storedPassword, ...kept } = stored;
    // A stored password is shown as a mask, which stands for it.
    const secret = password || storedPassword;
    const value = {
      ...kept,
      smtp_host: host.trim(),
      smtp_port: port,
      smtp_from: from.trim(),
      smtp_tls_implicit: tls.tls_implicit,
      smtp_disable_tls: tls.disable_tls,
      ...(username ? { smtp_username: username } : {}),
      ...(username && secret ? { smtp_password: secret } : {}),
    };
    await callOperation("POST /settings/global/{key}", { key: "smtp_settings", body: { value } });
    setPassword("");
    return "The mail server is saved";
  };
  const send = () => {
    const ca = typeof stored.smtp_ca === "string" ? { ca: stored.smtp_ca } : {};
    const smtp = { host: host.trim(), port, username, password, from: from.trim(), ...tls, ...ca };
    return callOperation("POST /settings/test_smtp", { body: { to, smtp } });
  };
  return (
    <Section
      title="Mail server"
      about={
        <>
          Sends invitations, alerts and links for forgotten passwords. A test uses the values below, even if
          they are not saved yet. Saved values are in the setting <SettingLink name="smtp_settings" />.
        </>
      }
      label="Send a test mail"
      isChanged={isComplete && to.trim() !== ""}
      {...(mayChange
        ? {
            save: send,
            more: (
              <Button loading={isPending} disabled={!isComplete} onClick={() => act(store)}>
                Save the mail server
              </Button>
            ),
          }
        : {})}
    >
      <TextInput label="Host" value={host} onChange={(event) => setHost(event.currentTarget.value)} />
      <NumberInput
        label="Port"
        min={1}
        max={65_535}
        value={port}
        onChange={(next) => typeof next === "number" && setPort(next)}
      />
      <Select
        label="Encryption"
        allowDeselect={false}
        data={ENCRYPTIONS}
        value={encryption}
        onChange={(next) => next && setEncryption(next)}
      />
      <TextInput
        label="User name"
        autoComplete="off"
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <PasswordInput
        label="Password"
        description={
          stored.smtp_password === undefined
            ? undefined
            : "The saved password is not shown. Enter it to send a test; leave this empty to keep it."
        }
        autoComplete="off"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <TextInput label="Sender" value={from} onChange={(event) => setFrom(event.currentTarget.value)} />
      <TextInput
        label="Send the test to"
        type="email"
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
    </Section>
  );
}

function SettingLink({ name }: { name: string }) {
  const { workspace } = useParams<{ workspace: string }>();
  return (
    <Anchor
      component={Link}
      href={`/w/${workspace}/instance?tab=settings&q=${name}`}
      inherit
      underline="always"
    >
      {name}
    </Anchor>
  );
}

function Providers() {
  const logins = useQuery(loginProvidersQuery);
  const names = [
    ...(logins.data?.oauth ?? []).map(({ display_name, type }) => display_name || type),
    ...(logins.data?.saml ? ["SAML"] : []),
  ];
  return (
    <Section
      title="Single sign-on"
      about={
        <>
          Besides passwords, users can sign in with the providers in the settings{" "}
          <SettingLink name="oauths" /> and <SettingLink name="saml_metadata" />.
        </>
      }
    >
      {logins.error && <Problem error={logins.error} />}
      {logins.data && names.length === 0 && <Text>No providers: users sign in with passwords.</Text>}
      {names.length > 0 && <Text>{names.join(", ")}</Text>}
    </Section>
  );
}
