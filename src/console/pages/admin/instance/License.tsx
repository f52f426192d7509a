import { Button, Group, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { useAction } from "../../../parts/elements/actions.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { Section } from "../settings/Section.tsx";
import { latestRenewalQuery, licenseIdQuery } from "./queries.ts";

/** Shows, checks, sets and renews the license that a few operations require. */
export function License() {
  const id = useQuery(licenseIdQuery);
  const renewal = useQuery(latestRenewalQuery).data;
  const [key, setKey] = useState("");
  const { act, isPending } = useAction();
  if (id.error) return <Problem error={id.error} retry={() => void id.refetch()} />;
  if (id.data === undefined) return <Loading />;
  return (
    <>
      <Section
        title="License"
        about="A few API operations, such as the replacement of all users, require a license key. You can issue one for your own instance: svc license keygen, then svc license issue."
      >
        <Text>{id.data === "" ? "No valid license." : <>The license {id.data} is valid.</>}</Text>
        {renewal && (
          <Text c="dimmed">
            Last renewed <Moment at={renewal.attempted_at} />: {renewal.result}
          </Text>
        )}
        {id.data !== "" && (
          <Group>
            <Button
              variant="default"
              loading={isPending}
              onClick={() => act(() => callOperation("POST /settings/renew_license_key", {}))}
            >
              Renew
            </Button>
          </Group>
        )}
      </Section>
      <Section
        title="Change the license key"
        about="This server verifies the key with the public key in the setting license_public_key; it is not sent anywhere."
        label="Save the license key"
        isChanged={key.trim() !== ""}
        more={
          <Button
            variant="subtle"
            disabled={key.trim() === ""}
            onClick={() =>
              act(() =>
                callOperation("POST /settings/test_license_key", { body: { license_key: key.trim() } }),
              )
            }
          >
            Check without saving
          </Button>
        }
        save={async () => {
          const said = await callOperation("POST /settings/test_license_key", {
            body: { license_key: key.trim() },
          });
          await callOperation("POST /settings/global/{key}", {
            key: "license_key",
            body: { value: key.trim() },
          });
          setKey("");
          return said;
        }}
      >
        <Textarea
          aria-label="License key"
          className="mono-input"
          autosize
          minRows={3}
          maxRows={8}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
      </Section>
    </>
  );
}
