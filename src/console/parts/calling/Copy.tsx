import { Button, CopyButton } from "@mantine/core";

/** Button that copies a text. */
export const Copy = ({ text }: { text: string }) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <Button variant="default" onClick={copy}>
        {copied ? "Copied" : "Copy"}
      </Button>
    )}
  </CopyButton>
);
