import { Autocomplete, Group, NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { secretPathsQuery } from "./secret-paths.ts";
import { SCHEMES, type Scheme, type Signature } from "./signatures.ts";

interface Props {
  workspace: string;
  value: Signature;
  change: (value: Signature) => void;
  readOnly?: boolean;
}

/** How senders sign their requests, and with which secret. */
export function SignatureInput({ workspace, value, change, readOnly = false }: Props) {
  const variables = useQuery(secretPathsQuery(workspace)).data?.variables ?? [];
  const isTimed = value.scheme !== "github" && value.scheme !== "hmac_sha256";
  return (
    <>
      <Autocomplete
        required
        label="Variable with the secret"
        description="The secret that is shared with the sender."
        limit={50}
        readOnly={readOnly}
        data={[...new Set(variables)]}
        value={value.secret}
        onChange={(secret) => change({ ...value, secret })}
      />
      <Group align="flex-start" grow>
        <Select
          label="How it is signed"
          allowDeselect={false}
          readOnly={readOnly}
          data={SCHEMES}
          value={value.scheme}
          onChange={(scheme) => scheme && change({ ...value, scheme: scheme as Scheme })}
        />
        {value.scheme === "hmac_sha256" && (
          <TextInput
            required
            label="Header with the digest"
            readOnly={readOnly}
            value={value.header ?? ""}
            onChange={(event) => change({ ...value, header: event.currentTarget.value })}
          />
        )}
        {isTimed && (
          <NumberInput
            label="Seconds it stays valid"
            placeholder="300"
            min={1}
            allowDecimal={false}
            readOnly={readOnly}
            value={value.tolerance_s ?? ""}
            onChange={(next) => change({ ...value, tolerance_s: typeof next === "number" ? next : null })}
          />
        )}
      </Group>
    </>
  );
}
