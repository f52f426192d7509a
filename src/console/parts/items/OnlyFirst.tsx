import { Text } from "@mantine/core";

/** Says below a list that there may be more than was loaded. */
export function OnlyFirst({ max, count }: { max: number; count: number }) {
  if (count < max) return null;
  return (
    <Text c="dimmed" mt="sm">
      Only the first {max.toLocaleString("en")} are shown and searched.
    </Text>
  );
}
