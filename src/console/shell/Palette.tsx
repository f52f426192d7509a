/** Command palette: finds scripts, flows, pages, and runs by id. */
import { Spotlight, type SpotlightActionData, useSpotlight } from "@mantine/spotlight";
import { IconBolt, IconPlayerPlay, IconRoute, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { flowList, scriptList } from "../parts/lists.ts";
import { to, useWorkspace } from "../parts/places.ts";
import type { Destination } from "./navigation.ts";
import { paletteStore } from "./palette-store.ts";

const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Spotlight selects the first action when the query is stored, possibly before the found actions are rendered. The
 * selection would disappear with a removed action, and Enter would do nothing.
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
  const scripts = useQuery({ ...scriptList(workspace), enabled: opened }).data;
  const flows = useQuery({ ...flowList(workspace), enabled: opened }).data;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is listed is what changes the actions
  useEffect(selectFirstAction, [opened, query, scripts, flows]);
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
      onClick: () => go(to.begin(workspace, "flow", path)),
    })),
    ...(scripts ?? []).map(({ path, summary }) => ({
      id: `script ${path}`,
      label: summary || path,
      description: `Script ${path}`,
      leftSection: <IconBolt size={18} aria-hidden />,
      onClick: () => go(to.begin(workspace, "script", path)),
    })),
  ];
  const id = query.trim();
  if (RUN_ID.test(id)) {
    actions.unshift({
      id,
      label: `Run ${id}`,
      description: id,
      leftSection: <IconPlayerPlay size={18} aria-hidden />,
      onClick: () => go(to.run(workspace, id.toLowerCase())),
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
      limit={12}
      shortcut="mod + K"
      scrollable
      maxHeight="60vh"
      nothingFound="Nothing is called like that"
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: "Search scripts, flows, pages, or paste the id of a run",
        "aria-label": "Search",
      }}
    />
  );
}
