import { Loader, Modal, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useConnection } from "../api/connection.ts";
import { whoamiQuery } from "../api/session.ts";
import { SignIn } from "./SignIn.tsx";

/** Banner shown while the server is unreachable. */
export function LostConnection() {
  const { reached } = useConnection();
  if (reached) return null;
  return (
    <div className="bar" role="status">
      <Loader size={14} color="currentColor" />
      The server cannot be reached. The data shown may be out of date. It is updated when the server is back.
    </div>
  );
}

/** Sign-in dialog after the session has ended; keeps the state of the page. */
export function SessionEnded() {
  const { ended } = useConnection();
  const me = useQuery({ ...whoamiQuery, enabled: false }).data;
  return (
    <Modal
      opened={ended && me !== undefined}
      onClose={() => {}}
      withCloseButton={false}
      title="Your session has ended"
    >
      <Text mb="md" c="dimmed">
        Sign in to continue on this page.
      </Text>
      <SignIn {...(me ? { email: me.email } : {})} />
    </Modal>
  );
}
