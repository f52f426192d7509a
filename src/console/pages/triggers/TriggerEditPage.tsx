import { Anchor } from "@mantine/core";
import type { QueryKey, UseQueryOptions } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import { useIsReadOnly, useOwnPrefix } from "../../api/item-rights.ts";
import { Loading } from "../../parts/elements/Loading.tsx";
import { PageHead } from "../../parts/elements/PageHead.tsx";
import { Problem } from "../../parts/elements/Problem.tsx";
import type { RunnableRef } from "../../parts/form/RunnableInput.tsx";
import { useStoredItem } from "../../parts/form/use-stored-item.ts";
import { ReadOnlyNotice } from "../../parts/items/ReadOnlyNotice.tsx";
import { useWorkspace } from "../../parts/navigation/places.ts";

/** Properties of a schedule's or trigger's form. */
export interface TriggerFormProps<T> {
  workspace: string;
  /** Undefined for a new one. */
  existing: T | undefined;
  /** Initial script or flow of a new one, from the address. */
  initial: RunnableRef | undefined;
  /** Path, or the proposed path of a new one. */
  path: string;
}

interface EditedTrigger {
  path: string;
  extra_perms: Record<string, boolean>;
}

interface Props<T, K extends QueryKey> {
  /** Such as `schedule`. */
  noun: string;
  /** The page that lists them. */
  list: { label: string; at: (workspace: string) => string };
  /** Address of the form for a new one. */
  newAt: (workspace: string) => string;
  one: (workspace: string, path: string) => UseQueryOptions<T, Error, T, K>;
  Form: ComponentType<TriggerFormProps<T>>;
  /** Returns the address of its page. */
  at: (workspace: string, path: string) => string;
  /** Whether the member may change it; absent: if they may write at its path. */
  mayChange?: (item: T) => boolean;
}

/** Page with the form of a new or existing schedule or trigger. */
export function TriggerEditPage<T extends EditedTrigger, K extends QueryKey>(props: Props<T, K>) {
  const { noun, list, newAt, one, Form, at, mayChange } = props;
  const workspace = useWorkspace();
  const [location] = useLocation();
  const { "*": rest = "" } = useParams<{ "*": string }>();
  const [search] = useSearchParams();
  const path = location === newAt(workspace) ? undefined : rest;
  const { stored, error } = useStoredItem(one(workspace, path ?? ""), path !== undefined);
  const prefix = useOwnPrefix(workspace);
  const ready = path === undefined ? prefix !== "" : stored !== undefined;
  const isReadOnly = useIsReadOnly(workspace);
  const refuses = (item: T) =>
    isReadOnly(item.path, item.extra_perms) || (mayChange !== undefined && !mayChange(item));
  const given = search.get("path");
  const kind = search.get("kind") === "flow" ? "flow" : "script";
  return (
    <div className="page page-narrow">
      <PageHead
        title={path === undefined ? `New ${noun}` : `Edit ${path}`}
        above={
          <Anchor component={Link} href={list.at(workspace)} fz="sm">
            {list.label}
          </Anchor>
        }
      />
      {stored !== undefined && refuses(stored) ? (
        <ReadOnlyNotice path={stored.path} href={at(workspace, stored.path)} />
      ) : ready ? (
        <Form
          key={path}
          workspace={workspace}
          existing={stored}
          initial={given ? { kind, path: given } : undefined}
          path={path ?? prefix}
        />
      ) : error ? (
        <Problem error={error} />
      ) : (
        <Loading />
      )}
    </div>
  );
}
