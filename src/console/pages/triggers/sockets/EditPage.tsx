import { to } from "../../../parts/places.ts";
import { TriggerEditPage } from "../TriggerEditPage.tsx";
import { oneSocket } from "./queries.ts";
import { SocketForm } from "./SocketForm.tsx";

/** Form of a new or existing WebSocket trigger. */
export default function EditPage() {
  return (
    <TriggerEditPage
      noun="WebSocket trigger"
      list={{ label: "WebSockets", at: to.sockets }}
      newAt={to.newSocket}
      one={oneSocket}
      Form={SocketForm}
    />
  );
}
