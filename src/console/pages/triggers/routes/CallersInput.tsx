import { Autocomplete, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { HttpTrigger } from "../../../api/interface.d.ts";
import { SignatureInput } from "../../../parts/calling/SignatureInput.tsx";
import { secretPathsQuery } from "../../../parts/calling/secret-paths.ts";
import {
  isSignatureComplete,
  NEW_SIGNATURE,
  normalizeSignature,
  type Signature,
} from "../../../parts/calling/signatures.ts";
import { AUTHENTICATIONS, type Authentication } from "./callers.ts";
import type { RouteFields } from "./queries.ts";

/** Form value: who may call a route. */
export interface Callers {
  method: Authentication;
  /** Path of a resource, or `$var:` and the path of a variable. */
  secret: string;
  signature: Signature;
  /** Whether the signature is configured by a resource instead of the form's fields. */
  isByResource: boolean;
}

export function readCallers(route: HttpTrigger | undefined): Callers {
  const { signature, authentication_resource_path } = route ?? {};
  return {
    method: route?.authentication_method ?? "token",
    secret: authentication_resource_path ?? "",
    signature: signature ?? NEW_SIGNATURE,
    isByResource: route?.authentication_method === "signature" && !signature,
  };
}

const isByVariable = ({ method, isByResource }: Callers) => method === "signature" && !isByResource;
const needsPlace = (callers: Callers) =>
  callers.method !== "none" && callers.method !== "token" && !isByVariable(callers);

export function isCallersComplete(callers: Callers): boolean {
  if (isByVariable(callers)) return isSignatureComplete(callers.signature);
  return !needsPlace(callers) || callers.secret !== "";
}

type Fields = Pick<RouteFields, "authentication_method" | "authentication_resource_path" | "signature">;

export function toCallerFields(callers: Callers): Fields {
  return {
    authentication_method: callers.method,
    authentication_resource_path: needsPlace(callers) ? callers.secret : null,
    signature: isByVariable(callers) ? normalizeSignature(callers.signature) : null,
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
  const places = useQuery(secretPathsQuery(workspace)).data;
  const choices = [...(places?.resources ?? []), ...(places?.variables ?? []).map((path) => `$var:${path}`)];
  const about = AUTHENTICATIONS.find((each) => each.value === value.method)!.about;
  return (
    <>
      <Select
        label="Who may call it"
        description={about}
        allowDeselect={false}
        // Only the body of a POST request is signed.
        data={AUTHENTICATIONS.filter(
          (each) => each.value !== "signature" || method === "post" || value.method === "signature",
        ).map(({ value, label }) => ({ value, label }))}
        value={value.method}
        onChange={(next) =>
          next &&
          change({
            method: next as Authentication,
            secret: "",
            signature: NEW_SIGNATURE,
            isByResource: false,
          })
        }
      />
      {needsPlace(value) && (
        <Autocomplete
          required
          label="Resource with the secret"
          limit={50}
          data={[...new Set(choices)]}
          value={value.secret}
          onChange={(secret) => change({ ...value, secret })}
        />
      )}
      {isByVariable(value) && (
        <SignatureInput
          workspace={workspace}
          value={value.signature}
          change={(signature) => change({ ...value, signature })}
        />
      )}
    </>
  );
}
