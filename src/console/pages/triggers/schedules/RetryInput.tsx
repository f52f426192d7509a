import { Group, NumberInput, Select } from "@mantine/core";
import type { ScheduleFields } from "./queries.ts";

export type Retry = NonNullable<ScheduleFields["retry"]>;

const KINDS = [
  { value: "none", label: "No retry" },
  { value: "constant", label: "Retry with a constant delay" },
  { value: "exponential", label: "Retry with exponential backoff" },
];
const BOTH = { value: "both", label: "Retry with a constant delay, then with backoff" };
type Kind = "none" | "constant" | "exponential" | "both";

function kindOf(retry: Retry | null): Kind {
  if (retry?.constant?.attempts && retry.exponential?.attempts) return "both";
  if (retry?.exponential?.attempts) return "exponential";
  return retry?.constant?.attempts ? "constant" : "none";
}

/** Returns the attempts of a kind; a condition of the retries is kept. */
function createRetry(kind: Kind, { retry_if }: Retry): Retry | null {
  if (kind === "none") return null;
  const kept = retry_if ? { retry_if } : {};
  return kind === "constant"
    ? { constant: { attempts: 3, seconds: 60 }, ...kept }
    : { exponential: { attempts: 3, multiplier: 1, seconds: 5 }, ...kept };
}

export function describeRetry(retry: Retry | null): string | undefined {
  const { constant, exponential } = retry ?? {};
  const words = [
    constant?.attempts && `${constant.attempts} times, every ${constant.seconds} s`,
    exponential?.attempts && `${exponential.attempts} times, with exponential backoff`,
  ];
  return words.filter(Boolean).join("; then ") || undefined;
}

interface Props {
  value: Retry | null;
  change: (value: Retry | null) => void;
}

/** Whether and when a failed run is tried again. */
export function RetryInput({ value, change }: Props) {
  const kind = kindOf(value);
  const { constant, exponential } = value ?? {};
  const number = (label: string, given: number, min: number, set: (next: number) => void) => (
    <NumberInput
      key={label}
      label={label}
      min={min}
      style={{ flex: "1 1 9rem" }}
      value={given}
      onChange={(next) => typeof next === "number" && set(next)}
    />
  );
  return (
    <Group align="flex-end">
      <Select
        label="When a run fails"
        allowDeselect={false}
        style={{ flex: "3 1 14rem" }}
        data={kind === "both" ? [...KINDS, BOTH] : KINDS}
        value={kind}
        onChange={(next) => next && next !== "both" && change(createRetry(next as Kind, value ?? {}))}
      />
      {constant && kind === "constant" && (
        <>
          {number("Times", constant.attempts, 1, (attempts) =>
            change({ ...value, constant: { ...constant, attempts } }),
          )}
          {number("Seconds between", constant.seconds, 0, (seconds) =>
            change({ ...value, constant: { ...constant, seconds } }),
          )}
        </>
      )}
      {exponential && kind === "exponential" && (
        <>
          {number("Times", exponential.attempts, 1, (attempts) =>
            change({ ...value, exponential: { ...exponential, attempts } }),
          )}
          {number("Base, in seconds", exponential.seconds, 0, (seconds) =>
            change({ ...value, exponential: { ...exponential, seconds } }),
          )}
        </>
      )}
    </Group>
  );
}
