import { Text } from "@mantine/core";

/** Note below a list that there may be more rows than loaded. */
export function OnlyFirst({ max, count }: { max: number; count: number }) {
  if (count < max) return null;
  return (
    <Text c="dimmed" mt="sm">
      Only the first {max.toLocaleString("en")} are shown and searched.
    </Text>
  );
}
