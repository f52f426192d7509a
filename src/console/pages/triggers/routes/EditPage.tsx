import { to } from "../../../parts/places.ts";
import { TriggerEditPage } from "../TriggerEditPage.tsx";
import { oneRoute } from "./queries.ts";
import { RouteForm } from "./RouteForm.tsx";

/** Form of a new or existing HTTP route. */
export default function EditPage() {
  return (
    <TriggerEditPage
      noun="HTTP route"
      list={{ label: "HTTP routes", at: to.triggers }}
      newAt={to.newRoute}
      one={oneRoute}
      Form={RouteForm}
    />
  );
}
