import type { ReactNode } from "react";

export type Fact = [name: string, value: ReactNode];

/** List of an item's named facts. */
export const FactList = ({ facts }: { facts: Fact[] }) => (
  <dl className="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
