/** The clock on the wall of a time zone. What it shows is written as the moment at which a clock in UTC shows the same. */

const DAY_MS = 24 * 3_600_000;

export interface WallClock {
  /** What it shows at a moment. */
  at: (moment: Date) => Date;
  /**
   * When it first shows a time. One that it leaps over when clocks are put forward counts as shown at the leap.
   * @param shown of whole seconds
   */
  when: (shown: Date) => Date;
}

/** @throws RangeError for a name that is no time zone */
export function wallClock(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const show = (moment: number): number => {
    const parts = format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]);
    const { year, month, day, hour, minute, second } = Object.fromEntries(parts);
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  const when = (shown: number): number => {
    // Clocks are not changed twice within two days, so one of these holds wherever the time is shown at all.
    const offsets = [shown - DAY_MS, shown + DAY_MS].map((moment) => show(moment) - moment);
    const early = shown - Math.max(...offsets);
    const late = shown - Math.min(...offsets);
    if (show(early) === shown) return early;
    return show(late) === shown ? late : leapOver(shown, early, late);
  };
  const leapOver = (shown: number, early: number, late: number): number => {
    let [before, after] = [early, late];
    while (after - before > 1000) {
      const middle = before + Math.floor((after - before) / 2000) * 1000;
      if (show(middle) < shown) before = middle;
      else after = middle;
    }
    return after;
  };
  return {
    at: (moment) => new Date(show(moment.getTime())),
    when: (shown) => new Date(when(shown.getTime())),
  };
}
