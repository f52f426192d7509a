import { localStorageColorSchemeManager } from "@mantine/core";
import { storageKey } from "../api/base.ts";

export const colorScheme = localStorageColorSchemeManager({ key: storageKey("color-scheme") });
