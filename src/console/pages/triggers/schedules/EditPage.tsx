import { to } from "../../../parts/places.ts";
import { TriggerEditPage } from "../TriggerEditPage.tsx";
import { oneSchedule } from "./queries.ts";
import { ScheduleForm } from "./ScheduleForm.tsx";

/** Form of a new or existing schedule. */
export default function EditPage() {
  return (
    <TriggerEditPage
      noun="schedule"
      list={{ label: "Schedules", at: to.schedules }}
      newAt={to.newSchedule}
      one={oneSchedule}
      Form={ScheduleForm}
    />
  );
}
