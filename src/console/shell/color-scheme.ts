import { localStorageColorSchemeManager } from "@mantine/core";
import { stored } from "../api/base.ts";

export const colorScheme = localStorageColorSchemeManager({ key: stored("color-scheme") });
