import { linkTo } from "../../../parts/places.ts";
import { TriggerEditPage } from "../TriggerEditPage.tsx";
import { routeQuery } from "./queries.ts";
import { RouteForm } from "./RouteForm.tsx";

/** Form of a new or existing HTTP route. */
export default function EditPage() {
  return (
    <TriggerEditPage
      noun="HTTP route"
      list={{ label: "HTTP routes", at: linkTo.triggers }}
      newAt={linkTo.newRoute}
      one={routeQuery}
      Form={RouteForm}
    />
  );
}
