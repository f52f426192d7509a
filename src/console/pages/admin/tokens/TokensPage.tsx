import { Badge, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { useConfirmation } from "../../../parts/elements/actions.tsx";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { useWorkspace } from "../../../parts/navigation/places.ts";
import { NewToken } from "./NewToken.tsx";
import { type Token, tokensQuery } from "./queries.ts";

const DAY_MS = 86_400_000;
const WARN_MS = 30 * DAY_MS;

export default function TokensPage() {
  const workspace = useWorkspace();
  const tokens = useQuery(tokensQuery);
  const [isCreating, setCreating] = useState(false);
  const { ask, dialog } = useConfirmation();
  const revoke = ({ token_prefix, label }: Token) =>
    ask({
      title: `Revoke ${label || token_prefix}?`,
      text: "Requests with this token are refused from now on. A revoked token cannot be restored.",
      label: "Revoke",
      action: async () => {
        await callOperation("DELETE /users/tokens/delete/{token_prefix}", { token_prefix });
        return "The token was revoked";
      },
    });
  const rows = tokens.data?.filter(({ kind }) => kind !== "session");
  const create = <Button onClick={() => setCreating(true)}>New token</Button>;
  return (
    <div className="page">
      <PageHead
        title="Your tokens"
        about="A program that sends a token calls the API as you. Create one token per program, with only the scopes it needs."
      >
        {rows && rows.length > 0 && create}
      </PageHead>
      {tokens.error && <Problem error={tokens.error} retry={() => void tokens.refetch()} />}
      {tokens.isPending && <Loading />}
      {rows?.length === 0 && (
        <Empty title="No tokens yet" action={create} command="svc token create --label ci">
          A webhook, a build server or a script on your machine needs a token to call this server.
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <DataTable
          label="Tokens"
          columns={columns(revoke)}
          rows={rows}
          keyOf={({ token_prefix }) => token_prefix}
        />
      )}
      <NewToken workspace={workspace} opened={isCreating} close={() => setCreating(false)} />
      {dialog}
    </div>
  );
}

const columns = (revoke: (token: Token) => void): Column<Token>[] => [
  {
    name: "Token",
    width: "minmax(0, 1.5fr)",
    cell: ({ label, token_prefix }) => (
      <>
        <div style={{ fontWeight: 500 }}>{label || "unnamed"}</div>
        <div className="quiet mono">{token_prefix}…</div>
      </>
    ),
  },
  {
    name: "Scopes",
    width: "minmax(0, 1.5fr)",
    cell: ({ scopes, workspace_id }) => (
      <span className="quiet">
        {scopes ? scopes.join(", ") : "all your permissions"}
        {workspace_id && `, in ${workspace_id} only`}
      </span>
    ),
  },
  { name: "Last used", width: "8rem", cell: ({ last_used_at }) => <Moment at={last_used_at} /> },
  { name: "Expires", width: "9rem", cell: ({ expiration }) => <Expiry at={expiration} /> },
  {
    name: "",
    width: "2rem",
    cell: (token) => (
      <RowMenu
        of={token.label || token.token_prefix}
        entries={[{ label: "Revoke", onClick: () => revoke(token), isDangerous: true }]}
      />
    ),
  },
];

function Expiry({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="quiet">never</span>;
  const left = Date.parse(at) - Date.now();
  return (
    <>
      <Moment at={at} />{" "}
      {left < WARN_MS && (
        <Badge size="xs" color={left < 0 ? "red" : "yellow"} variant="light">
          {left < 0 ? "ended" : "soon"}
        </Badge>
      )}
    </>
  );
}
