import { localStorageColorSchemeManager } from "@mantine/core";
import { getStorageKey } from "../api/base.ts";

export const colorScheme = localStorageColorSchemeManager({ key: getStorageKey("color-scheme") });
