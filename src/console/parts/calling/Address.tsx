import { Group, TextInput } from "@mantine/core";
import { toServerPath } from "../../api/base.ts";
import { Copy } from "./Copy.tsx";

/** Returns the base URL of the console, with its path prefix, without a trailing slash. */
export const getConsoleUrl = (): string => new URL(toServerPath(""), location.href).href.replace(/\/$/, "");

/** Text with a copy button, such as a URL or a token. */
export const Copied = ({ label, value }: { label: string; value: string }) => (
  <Group wrap="nowrap" align="flex-end">
    <TextInput readOnly aria-label={label} value={value} style={{ flex: 1 }} />
    <Copy text={value} />
  </Group>
);
