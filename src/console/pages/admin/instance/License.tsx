import { Button, Group, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { useAction } from "../../../parts/actions.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { Moment } from "../../../parts/time.tsx";
import { Section } from "../settings/Section.tsx";
import { latestRenewal, licenseId } from "./queries.ts";

/** Shows, checks, sets and renews the license that a few operations require. */
export function License() {
  const id = useQuery(licenseId);
  const renewal = useQuery(latestRenewal).data;
  const [key, setKey] = useState("");
  const { act, isPending } = useAction();
  if (id.error) return <Problem error={id.error} retry={() => void id.refetch()} />;
  if (id.data === undefined) return <Loading />;
  return (
    <>
      <Section
        title="License"
        about="A few operations that existing clients know ask for a license key, such as the replacement of all users. You can issue one for an instance of your own: svc license keygen, then svc license issue."
      >
        <Text>{id.data === "" ? "No license holds here." : <>The license {id.data} holds.</>}</Text>
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
              onClick={() => act(() => call("POST /settings/renew_license_key", {}))}
            >
              Renew it
            </Button>
          </Group>
        )}
      </Section>
      <Section
        title="Another key"
        about="It is checked without being sent anywhere: by the public key in the setting license_public_key."
        label="Set the license"
        isChanged={key.trim() !== ""}
        more={
          <Button
            variant="subtle"
            disabled={key.trim() === ""}
            onClick={() =>
              act(() => call("POST /settings/test_license_key", { body: { license_key: key.trim() } }))
            }
          >
            Only check it
          </Button>
        }
        save={async () => {
          const said = await call("POST /settings/test_license_key", { body: { license_key: key.trim() } });
          await call("POST /settings/global/{key}", { key: "license_key", body: { value: key.trim() } });
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
