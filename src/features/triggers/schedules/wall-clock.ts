/** The clock on the wall of a time zone. What it shows is written as the moment at which a clock in UTC shows the same. */

export interface WallClock {
  /** What it shows at a moment. */
  at: (moment: Date) => Date;
  /** When it first shows a time. One that it leaps over when clocks are put forward counts as shown at the leap. */
  when: (shown: Date) => Date;
}

const toDate = ({ epochMilliseconds }: { epochMilliseconds: number }) => new Date(epochMilliseconds);

/** @throws RangeError for a name that is no time zone */
export function wallClock(timeZone: string): WallClock {
  const inZone = (moment: Date, zone: string) =>
    Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(zone);
  return {
    at: (moment) => toDate(inZone(moment, timeZone).toPlainDateTime().toZonedDateTime("UTC")),
    when(shown) {
      const time = inZone(shown, "UTC").toPlainDateTime();
      const first = time.toZonedDateTime(timeZone, { disambiguation: "earlier" });
      const isShown = first.toPlainDateTime().equals(time);
      return toDate(isShown ? first : first.getTimeZoneTransition("next")!);
    },
  };
}
