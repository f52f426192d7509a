import { linkTo } from "../../../parts/navigation/places.ts";
import { TriggerEditPage } from "../TriggerEditPage.tsx";
import { socketQuery } from "./queries.ts";
import { SocketForm } from "./SocketForm.tsx";

/** Form of a new or existing WebSocket trigger. */
export default function EditPage() {
  return (
    <TriggerEditPage
      noun="WebSocket trigger"
      list={{ label: "WebSockets", at: linkTo.sockets }}
      newAt={linkTo.newSocket}
      one={socketQuery}
      Form={SocketForm}
      at={linkTo.socket}
    />
  );
}
