import { SegmentedControl } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useSearchParams } from "wouter";

export interface TabChoice<T extends string> {
  value: T;
  label: string;
}

/** Returns the tab in the address, by default the first, and the tab bar. */
export function useTabs<T extends string>(tabs: TabChoice<T>[]): [tab: T, bar: React.ReactNode] {
  const [search, setSearch] = useSearchParams();
  const tab = tabs.find(({ value }) => value === search.get("tab"))?.value ?? tabs[0]!.value;
  const box = useRef<HTMLDivElement>(null);
  // In a narrow window the bar is scrolled: the chosen tab is brought to its middle, so that its neighbours are seen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place
  useEffect(() => {
    const bar = box.current;
    const chosen = bar?.querySelector("label[data-active]");
    if (!bar || !chosen) return;
    const [around, inner] = [bar.getBoundingClientRect(), chosen.getBoundingClientRect()];
    bar.scrollLeft += (inner.left + inner.right - around.left - around.right) / 2;
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
