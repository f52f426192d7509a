import { Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import { useOwnPrefix } from "../../../parts/items/rights.ts";
import { Loading } from "../../../parts/Loading.tsx";
import { PageHead } from "../../../parts/PageHead.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to, useWorkspace } from "../../../parts/places.ts";
import { oneSocket } from "./queries.ts";
import { SocketForm } from "./SocketForm.tsx";

/** Form of a new WebSocket trigger, or of an existing one. */
export default function EditPage() {
  const workspace = useWorkspace();
  const [location] = useLocation();
  const { "*": rest = "" } = useParams<{ "*": string }>();
  const [search] = useSearchParams();
  const path = location === to.newSocket(workspace) ? undefined : rest;
  const found = useQuery({ ...oneSocket(workspace, path ?? ""), enabled: path !== undefined });
  const prefix = useOwnPrefix(workspace);
  const ready = path === undefined ? prefix !== "" : found.data !== undefined;
  const given = search.get("path");
  const kind = search.get("kind") === "flow" ? ("flow" as const) : ("script" as const);
  return (
    <div className="page page-narrow">
      <PageHead
        title={path === undefined ? "New WebSocket trigger" : `Edit ${path}`}
        above={
          <Anchor component={Link} href={to.sockets(workspace)} fz="sm">
            WebSockets
          </Anchor>
        }
      />
      {ready ? (
        <SocketForm
          workspace={workspace}
          existing={found.data}
          initial={given ? { kind, path: given } : undefined}
          path={path ?? prefix}
        />
      ) : found.error ? (
        <Problem error={found.error} />
      ) : (
        <Loading />
      )}
    </div>
  );
}
