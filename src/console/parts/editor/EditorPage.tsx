import { Anchor } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Fragment, type ReactNode, useState } from "react";
import { Link } from "wouter";
import { useIsReadOnly } from "../../api/item-rights.ts";
import { Loading } from "../elements/Loading.tsx";
import { PageHead } from "../elements/PageHead.tsx";
import { Problem } from "../elements/Problem.tsx";
import { ReadOnlyNotice } from "../items/ReadOnlyNotice.tsx";
import { linkTo, type RunnableKind, useWorkspace } from "../navigation/places.ts";

interface EditedItem {
  draft_only?: boolean;
  extra_perms?: Record<string, boolean>;
}

interface Props<Found> {
  kind: RunnableKind;
  path: string;
  /** What is edited; null if there is nothing at the path. */
  query: UseQueryResult<Found | null>;
  /** Shown if there is nothing at the path. */
  none?: ReactNode;
  /** Returns the editor. `reopen` replaces it by one that begins with what the query has then. */
  children: (found: Found, above: ReactNode, reopen: () => void) => ReactNode;
}

/** Loads what an editor begins with, and links to what is deployed. */
export function EditorPage<Found extends EditedItem>(props: Props<Found>) {
  const { kind, path, query, none, children } = props;
  const workspace = useWorkspace();
  const [attempt, setAttempt] = useState(0);
  const { data, error } = query;
  const isReadOnly = useIsReadOnly(workspace);
  const isDeployed = data !== null && !data?.draft_only;
  const above = (
    <Anchor
      component={Link}
      href={isDeployed ? linkTo[kind](workspace, path) : linkTo.home(workspace)}
      fz="sm"
    >
      {isDeployed ? path : "Home"}
    </Anchor>
  );
  if (data && isReadOnly(path, data.extra_perms))
    return (
      <div className="page">
        <PageHead title={`Edit ${path}`} above={above} />
        <ReadOnlyNotice path={path} href={linkTo[kind](workspace, path)} />
      </div>
    );
  if (data)
    return (
      <Fragment key={`${path} ${attempt}`}>{children(data, above, () => setAttempt(attempt + 1))}</Fragment>
    );
  return (
    <div className="page">
      <PageHead title="Edit" above={above} />
      {error ? (
        <Problem error={error} retry={() => void query.refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        none
      )}
    </div>
  );
}
