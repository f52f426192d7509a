import { linkTo } from "../../../parts/navigation/places.ts";
import { TriggerEditPage } from "../TriggerEditPage.tsx";
import { scheduleQuery } from "./queries.ts";
import { ScheduleForm } from "./ScheduleForm.tsx";

/** Form of a new or existing schedule. */
export default function EditPage() {
  return (
    <TriggerEditPage
      noun="schedule"
      list={{ label: "Schedules", at: linkTo.schedules }}
      newAt={linkTo.newSchedule}
      one={scheduleQuery}
      Form={ScheduleForm}
      at={linkTo.schedule}
    />
  );
}
