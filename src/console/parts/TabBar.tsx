import { SegmentedControl } from "@mantine/core";
import { useSearchParams } from "wouter";

export interface TabChoice<T extends string> {
  value: T;
  label: string;
}

/** Returns the tab in the address, the first by default, and the bar that changes it. */
export function useTabs<T extends string>(tabs: TabChoice<T>[]): [tab: T, bar: React.ReactNode] {
  const [search, setSearch] = useSearchParams();
  const tab = tabs.find(({ value }) => value === search.get("tab"))?.value ?? tabs[0]!.value;
  const bar = (
    <div className="tab-bar">
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
