/** List of all workspace pages: path, lazily loaded module, navigation entry. */
import { IconHome, IconPlayerPlay } from "@tabler/icons-react";
import type { ComponentType } from "react";
import type { Destination } from "../shell/navigation.ts";

export interface Page {
  /** Below `/w/:workspace`; `:name` matches a segment, `*` the rest. */
  path: string;
  load: () => Promise<{ default: ComponentType }>;
  nav?: Pick<Destination, "label" | "Icon">;
}

/** In navigation order. */
export const PAGES: Page[] = [
  { path: "", nav: { label: "Home", Icon: IconHome }, load: () => import("./home/HomePage.tsx") },
  { path: "/runs", nav: { label: "Runs", Icon: IconPlayerPlay }, load: () => import("./runs/RunsPage.tsx") },
  { path: "/runs/:id", load: () => import("./run/RunPage.tsx") },
  { path: "/begin/:kind/*", load: () => import("./begin/BeginPage.tsx") },
];
