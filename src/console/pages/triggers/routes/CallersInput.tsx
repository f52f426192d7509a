import { Autocomplete, Group, NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { HttpTrigger } from "../../../api/interface.d.ts";
import { AUTHENTICATIONS, type Authentication, SCHEMES, type Scheme } from "./callers.ts";
import { type RouteFields, secretPlaces } from "./queries.ts";

/** Form value: who may call a route. */
export interface Callers {
  method: Authentication;
  /** Path of a resource, or `$var:` and the path of a variable; for a signature, the path of a variable. */
  secret: string;
  scheme: Scheme;
  header: string;
  tolerance: number | undefined;
  /** Whether the signature is configured by a resource instead of the form's fields. */
  isByResource: boolean;
}

export function callersOfRoute(route: HttpTrigger | undefined): Callers {
  const { signature, authentication_resource_path } = route ?? {};
  return {
    method: route?.authentication_method ?? "token",
    secret: signature?.secret ?? authentication_resource_path ?? "",
    scheme: signature?.scheme ?? "standard_webhooks",
    header: signature?.header ?? "",
    tolerance: signature?.tolerance_s ?? undefined,
    isByResource: route?.authentication_method === "signature" && !signature,
  };
}

const needsSecret = ({ method }: Callers) => method !== "none" && method !== "token";

export const isCallersComplete = (callers: Callers): boolean =>
  !needsSecret(callers) ||
  (callers.secret !== "" &&
    (callers.method !== "signature" || callers.scheme !== "hmac_sha256" || callers.header !== ""));

type Fields = Pick<RouteFields, "authentication_method" | "authentication_resource_path" | "signature">;

export function toFields(callers: Callers): Fields {
  const { method, secret, scheme, header, tolerance, isByResource } = callers;
  if (method !== "signature" || isByResource) {
    return {
      authentication_method: method,
      authentication_resource_path: needsSecret(callers) ? secret : null,
      signature: null,
    };
  }
  return {
    authentication_method: method,
    authentication_resource_path: null,
    signature: {
      scheme,
      secret,
      header: scheme === "hmac_sha256" ? header : null,
      tolerance_s: tolerance ?? null,
    },
  };
}

interface Props {
  workspace: string;
  method: HttpTrigger["http_method"];
  value: Callers;
  change: (value: Callers) => void;
}

/** Form fields: who may call a route, and the secret that authenticates callers. */
export function CallersInput({ workspace, method, value, change }: Props) {
  const places = useQuery(secretPlaces(workspace)).data;
  const isSigned = value.method === "signature";
  const isByVariable = isSigned && !value.isByResource;
  const choices = isByVariable
    ? (places?.variables ?? [])
    : [...(places?.resources ?? []), ...(places?.variables ?? []).map((path) => `$var:${path}`)];
  const about = AUTHENTICATIONS.find((each) => each.value === value.method)!.about;
  return (
    <>
      <Select
        label="Who may call it"
        description={about}
        allowDeselect={false}
        // Only the body of a POST request is signed.
        data={AUTHENTICATIONS.filter(
          (each) => each.value !== "signature" || method === "post" || isSigned,
        ).map(({ value, label }) => ({ value, label }))}
        value={value.method}
        onChange={(next) =>
          next && change({ ...value, method: next as Authentication, secret: "", isByResource: false })
        }
      />
      {needsSecret(value) && (
        <Autocomplete
          required
          label={isByVariable ? "Variable with the secret" : "Resource with the secret"}
          limit={50}
          data={[...new Set(choices)]}
          value={value.secret}
          onChange={(secret) => change({ ...value, secret })}
        />
      )}
      {isByVariable && (
        <Group align="flex-start" grow>
          <Select
            label="How it is signed"
            allowDeselect={false}
            data={SCHEMES}
            value={value.scheme}
            onChange={(scheme) => scheme && change({ ...value, scheme: scheme as Scheme })}
          />
          {value.scheme === "hmac_sha256" ? (
            <TextInput
              required
              label="Header with the digest"
              value={value.header}
              onChange={(event) => change({ ...value, header: event.currentTarget.value })}
            />
          ) : (
            value.scheme !== "github" && (
              <NumberInput
                label="Seconds it stays valid"
                placeholder="as usual"
                min={1}
                value={value.tolerance ?? ""}
                onChange={(next) =>
                  change({ ...value, tolerance: typeof next === "number" ? next : undefined })
                }
              />
            )
          )}
        </Group>
      )}
    </>
  );
}
