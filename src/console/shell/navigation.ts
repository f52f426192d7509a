import type { IconHome } from "@tabler/icons-react";
import type { ComponentType } from "react";

/** Entry of the navigation and of the command palette. */
export interface Destination {
  label: string;
  href: string;
  Icon: typeof IconHome;
  /** Loads the files of the page. */
  load: () => void;
}

/** Exports of a page's module. */
export interface PageModule {
  default: ComponentType;
}
