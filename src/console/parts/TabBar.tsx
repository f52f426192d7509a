import { SegmentedControl } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useSearchParams } from "wouter";

export interface TabChoice<T extends string> {
  value: T;
  label: string;
}

/** Returns the tab in the address, the first by default, and the bar that changes it. */
export function useTabs<T extends string>(tabs: TabChoice<T>[]): [tab: T, bar: React.ReactNode] {
  const [search, setSearch] = useSearchParams();
  const tab = tabs.find(({ value }) => value === search.get("tab"))?.value ?? tabs[0]!.value;
  const box = useRef<HTMLDivElement>(null);
  // In a narrow window the bar is scrolled: the chosen tab is brought into it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place
  useEffect(() => {
    const chosen = box.current?.querySelector<HTMLElement>("[data-active] label, label[data-active]");
    const bar = box.current;
    if (bar && chosen) bar.scrollLeft = chosen.offsetLeft + chosen.offsetWidth - bar.clientWidth + 8;
  }, [tab]);
  const bar = (
    <div className="tab-bar" ref={box}>
      <SegmentedControl
        aria-label="Part of the page"
        value={tab}
        data={tabs}
        onChange={(value) => setSearch(value === tabs[0]!.value ? {} : { tab: value })}
      />
    </div>
  );
  return [tab, bar];
}
