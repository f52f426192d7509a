/** The wall clock of a time zone. A wall-clock time is represented by the Date at which a UTC clock shows the same. */

export interface WallClock {
  /** Returns the wall-clock time at an instant. */
  read: (moment: Date) => Date;
  /**
   * Returns the first instant that has a wall-clock time. A time skipped by daylight saving gives the instant of the
   * change.
   */
  find: (shown: Date) => Date;
}

const toDate = ({ epochMilliseconds }: { epochMilliseconds: number }) => new Date(epochMilliseconds);

/** Creates the wall clock of a time zone. @throws RangeError for an unknown time zone */
export function createWallClock(timeZone: string): WallClock {
  const inZone = (moment: Date, zone: string) =>
    Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(zone);
  return {
    read: (moment) => toDate(inZone(moment, timeZone).toPlainDateTime().toZonedDateTime("UTC")),
    find(shown) {
      const time = inZone(shown, "UTC").toPlainDateTime();
      const first = time.toZonedDateTime(timeZone, { disambiguation: "earlier" });
      const isShown = first.toPlainDateTime().equals(time);
      return toDate(isShown ? first : first.getTimeZoneTransition("next")!);
    },
  };
}
