import { Button } from "@mantine/core";
import { callOperation } from "../../../api/call.ts";
import { useConfirmation } from "../../../parts/elements/actions.tsx";
import { Section } from "./Section.tsx";

const KEY_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/**
 * Creates a key of 64 characters. Bytes beyond the last whole multiple are discarded, so that all characters are
 * equally likely.
 */
function createKey(): string {
  let key = "";
  while (key.length < 64) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      if (byte < 248 && key.length < 64) key += KEY_CHARS[byte % KEY_CHARS.length];
    }
  }
  return key;
}

export function KeySection({ workspace }: { workspace: string }) {
  const { ask, dialog } = useConfirmation();
  const rotate = () =>
    ask({
      title: "Rotate the key of this workspace?",
      text: "All secrets are encrypted with a new key. Archives with secrets that were created earlier can only be read with the old key.",
      label: "Rotate",
      action: async () => {
        const body = { new_key: createKey(), skip_reencrypt: false };
        await callOperation("POST /w/{workspace}/workspaces/encryption_key", { workspace, body });
        return "All secrets are encrypted with a new key";
      },
    });
  return (
    <Section
      title="Encryption key"
      about="Secrets are stored encrypted with the key of the workspace. Rotate it when somebody who knew it leaves."
    >
      <div>
        <Button variant="default" onClick={rotate}>
          Rotate the key
        </Button>
      </div>
      {dialog}
    </Section>
  );
}
