import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { TriggerEditPage } from "../TriggerEditPage.tsx";
import { routeQuery } from "./queries.ts";
import { RouteForm } from "./RouteForm.tsx";
import { useMayChangeRoute } from "./rights.ts";

/** Form of a new or existing HTTP route. */
export default function EditPage() {
  const mayChange = useMayChangeRoute(useWorkspace());
  return (
    <TriggerEditPage
      noun="HTTP route"
      list={{ label: "HTTP routes", at: linkTo.triggers }}
      newAt={linkTo.newRoute}
      one={routeQuery}
      Form={RouteForm}
      at={linkTo.route}
      mayChange={mayChange}
    />
  );
}
