import { createSpotlight } from "@mantine/spotlight";

/** State and actions of the command palette. */
export const [paletteStore, palette] = createSpotlight();
