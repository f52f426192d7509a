/** Command palette: finds scripts, flows, apps, pages, and runs by id or by their words. */
import {
  Spotlight,
  type SpotlightActionData,
  type SpotlightFilterFunction,
  useSpotlight,
} from "@mantine/spotlight";
import {
  IconBolt,
  IconLayoutDashboard,
  IconListSearch,
  IconPlayerPlay,
  IconRoute,
  IconSearch,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { appsQuery, flowsQuery, scriptsQuery } from "../parts/items/lists.ts";
import { linkTo, useWorkspace } from "../parts/navigation/places.ts";
import type { Destination } from "./navigation.ts";
import { paletteStore } from "./palette-store.ts";

const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const SEARCH_RUNS = "search runs";
const LIMIT = 12;

/** Keeps the actions that have all words, those whose name begins with the text first, and the search of runs last. */
const filterActions: SpotlightFilterFunction = (query, actions) => {
  const text = query.trim().toLowerCase();
  const words = text.split(/\s+/);
  const rankOf = (label: string) => (label.startsWith(text) ? 0 : label.includes(text) ? 1 : 2);
  const found = (actions as SpotlightActionData[]).flatMap((action) => {
    const label = (action.label ?? "").toLowerCase();
    const said = `${label} ${action.description ?? ""}`.toLowerCase();
    return action.id !== SEARCH_RUNS && words.every((word) => said.includes(word))
      ? [{ action, rank: rankOf(label) }]
      : [];
  });
  const sorted = found.sort((a, b) => a.rank - b.rank).map(({ action }) => action);
  const last = (actions as SpotlightActionData[]).filter(({ id }) => id === SEARCH_RUNS);
  return [...sorted.slice(0, LIMIT - last.length), ...last];
};

/**
 * Selects the first action again once the found actions are rendered. Spotlight selects it when the query is stored,
 * possibly before. The selection would disappear with a removed action, and Enter would do nothing.
 */
function selectFirstAction() {
  const { opened, query, listId } = paletteStore.getState();
  const list = opened && query ? document.getElementById(listId) : null;
  list?.querySelector("[data-selected]")?.removeAttribute("data-selected");
  list?.querySelector("[data-action]")?.setAttribute("data-selected", "true");
  if (list) paletteStore.updateState((state) => ({ ...state, selected: 0 }));
}

export function Palette({ destinations }: { destinations: Destination[] }) {
  const workspace = useWorkspace();
  const [, go] = useLocation();
  const [query, setQuery] = useState("");
  const { opened } = useSpotlight(paletteStore);
  const scripts = useQuery({ ...scriptsQuery(workspace), enabled: opened }).data;
  const flows = useQuery({ ...flowsQuery(workspace), enabled: opened }).data;
  const apps = useQuery({ ...appsQuery(workspace), enabled: opened }).data;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is listed is what changes the actions
  useEffect(selectFirstAction, [opened, query, scripts, flows, apps]);
  const actions: SpotlightActionData[] = [
    ...destinations.map(({ label, href, Icon }) => ({
      id: href,
      label,
      description: "Page",
      leftSection: <Icon size={18} aria-hidden />,
      onClick: () => go(href),
    })),
    ...(flows ?? []).map(({ path, summary }) => ({
      id: `flow ${path}`,
      label: summary || path,
      description: `Flow ${path}`,
      leftSection: <IconRoute size={18} aria-hidden />,
      onClick: () => go(linkTo.begin(workspace, "flow", path)),
    })),
    ...(scripts ?? []).map(({ path, summary }) => ({
      id: `script ${path}`,
      label: summary || path,
      description: `Script ${path}`,
      leftSection: <IconBolt size={18} aria-hidden />,
      onClick: () => go(linkTo.begin(workspace, "script", path)),
    })),
    ...(apps ?? []).map(({ path, summary }) => ({
      id: `app ${path}`,
      label: summary || path,
      description: `App ${path}`,
      leftSection: <IconLayoutDashboard size={18} aria-hidden />,
      onClick: () => go(linkTo.app(workspace, path)),
    })),
  ];
  const id = query.trim();
  if (id !== "" && !RUN_ID.test(id)) {
    actions.push({
      id: SEARCH_RUNS,
      label: `Runs with “${id}”`,
      description: "Search arguments, results, paths and labels",
      leftSection: <IconListSearch size={18} aria-hidden />,
      onClick: () => go(linkTo.runs(workspace, { text: id, kind: "everything" })),
    });
  }
  if (RUN_ID.test(id)) {
    actions.unshift({
      id,
      label: `Run ${id}`,
      description: id,
      leftSection: <IconPlayerPlay size={18} aria-hidden />,
      onClick: () => go(linkTo.run(workspace, id.toLowerCase())),
    });
  }
  return (
    <Spotlight
      store={paletteStore}
      attributes={{ content: { "aria-label": "Search" } }}
      actions={actions}
      query={query}
      onQueryChange={setQuery}
      overlayProps={{ blur: 0, backgroundOpacity: 0.35 }}
      filter={filterActions}
      limit={LIMIT}
      shortcut="mod + K"
      scrollable
      maxHeight="60vh"
      nothingFound="Nothing has this name"
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: "Search, or paste a run’s id",
        "aria-label": "Search",
      }}
    />
  );
}
