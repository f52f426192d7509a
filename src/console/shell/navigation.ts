import type { IconHome } from "@tabler/icons-react";

/** Entry of the navigation and of the command palette. */
export interface Destination {
  label: string;
  href: string;
  Icon: typeof IconHome;
  /** Loads the files of the page. */
  load: () => void;
}
