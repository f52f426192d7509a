import { Button } from "@mantine/core";
import { useCopy } from "./use-copy.ts";

/** Button that copies a text. */
export function Copy({ text }: { text: string }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <Button variant="default" onClick={copy}>
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}
