import { Group, NumberInput, Select, Stack, TextInput } from "@mantine/core";
import type { Input } from "../../api/call.ts";

export type Retry = NonNullable<Input<"POST /w/{workspace}/schedules/create">["body"]["retry"]>;

const KINDS = [
  { value: "none", label: "No retry" },
  { value: "constant", label: "Retry with a constant delay" },
  { value: "exponential", label: "Retry with exponential backoff" },
  { value: "both", label: "Retry with a constant delay, then with backoff" },
];
type Kind = "none" | "constant" | "exponential" | "both";

const NEW_CONSTANT = { attempts: 3, seconds: 60 };
const NEW_EXPONENTIAL = { attempts: 3, multiplier: 1, seconds: 5 };
const SHOWN_DELAYS = 4;
/** The server's limit of a delay, in seconds. */
const MAX_DELAY = 7 * 24 * 3600;

/** Returns the retry rule of a stored schedule or trigger. */
export const readRetry = (stored: { retry?: unknown } | undefined): Retry | null =>
  (stored?.retry as Retry | null | undefined) ?? null;

function kindOf(retry: Retry | null): Kind {
  if (retry?.constant?.attempts && retry.exponential?.attempts) return "both";
  if (retry?.exponential?.attempts) return "exponential";
  return retry?.constant?.attempts ? "constant" : "none";
}

/** Returns the rule with the attempts of a kind; its numbers, its condition and unknown fields are kept. */
function changeKind(kind: Kind, before: Retry): Retry | null {
  if (kind === "none") return null;
  const { constant, exponential, ...kept } = before;
  return {
    ...kept,
    ...(kind === "exponential" ? {} : { constant: constant?.attempts ? constant : NEW_CONSTANT }),
    ...(kind === "constant" ? {} : { exponential: exponential?.attempts ? exponential : NEW_EXPONENTIAL }),
  };
}

/** Describes the first delays of a backoff. */
function describeDelays({ exponential }: Retry): string | undefined {
  if (!exponential?.attempts) return undefined;
  const { attempts, multiplier, seconds, random_factor } = exponential;
  const delays = Array.from(
    { length: Math.min(attempts, SHOWN_DELAYS) },
    (_, index) => `${Number(Math.min(multiplier * seconds ** (index + 1), MAX_DELAY).toPrecision(6))} s`,
  );
  const more = attempts > SHOWN_DELAYS ? ", …" : "";
  return `The backoff waits ${random_factor ? "about " : ""}${delays.join(", ")}${more}.`;
}

/** Describes a retry rule in a few words, undefined if there is none. */
export function describeRetry(retry: Retry | null): string | undefined {
  const { constant, exponential } = retry ?? {};
  const words = [
    constant?.attempts && `${constant.attempts} times, every ${constant.seconds} s`,
    exponential?.attempts && `${exponential.attempts} times, with exponential backoff`,
  ];
  return words.filter(Boolean).join("; then ") || undefined;
}

interface NumberFieldProps {
  label: string;
  value: number;
  min?: number;
  max?: number;
  isWhole?: boolean;
  change: (value: number) => void;
}

const NumberField = ({ isWhole = false, min = 0, change, ...props }: NumberFieldProps) => (
  <NumberInput
    {...props}
    min={min}
    allowDecimal={!isWhole}
    style={{ flex: "1 1 9rem" }}
    onChange={(next) => typeof next === "number" && change(next)}
  />
);

interface Props {
  value: Retry | null;
  change: (value: Retry | null) => void;
}

/** Whether and when a failed run is tried again. */
export function RetryInput({ value, change }: Props) {
  const kind = kindOf(value);
  const { constant, exponential, retry_if, ...unknown } = value ?? {};
  const setConstant = (next: Partial<typeof NEW_CONSTANT>) =>
    constant && change({ ...value, constant: { ...constant, ...next } });
  const setExponential = (next: Partial<NonNullable<Retry["exponential"]>>) =>
    exponential && change({ ...value, exponential: { ...exponential, ...next } });
  const setCondition = (expr: string) =>
    change({
      ...unknown,
      constant,
      exponential,
      ...(expr === "" ? {} : { retry_if: { ...retry_if, expr } }),
    });
  return (
    <Stack gap="xs">
      <Select
        label="When a run fails"
        description={kind === "none" ? undefined : describeDelays(value ?? {})}
        allowDeselect={false}
        data={KINDS}
        value={kind}
        onChange={(next) => next && change(changeKind(next as Kind, value ?? {}))}
      />
      {constant && (kind === "constant" || kind === "both") && (
        <Group align="flex-end">
          <NumberField
            label="Times"
            isWhole
            min={1}
            value={constant.attempts}
            change={(attempts) => setConstant({ attempts })}
          />
          <NumberField
            label="Seconds between"
            value={constant.seconds}
            change={(seconds) => setConstant({ seconds })}
          />
        </Group>
      )}
      {exponential && (kind === "exponential" || kind === "both") && (
        <Group align="flex-end">
          <NumberField
            label={kind === "both" ? "Times with backoff" : "Times"}
            isWhole
            min={1}
            value={exponential.attempts}
            change={(attempts) => setExponential({ attempts })}
          />
          <NumberField
            label="Base, in seconds"
            value={exponential.seconds}
            change={(seconds) => setExponential({ seconds })}
          />
          <NumberField
            label="Multiplier"
            value={exponential.multiplier}
            change={(multiplier) => setExponential({ multiplier })}
          />
          <NumberField
            label="Jitter, in percent"
            max={100}
            value={exponential.random_factor ?? 0}
            change={(random_factor) => setExponential({ random_factor })}
          />
        </Group>
      )}
      {kind !== "none" && (
        <TextInput
          label="Retry only if"
          description="A JavaScript expression about the error. Empty: after every failure."
          className="mono-input"
          placeholder={'error.name !== "BadRequest"'}
          value={retry_if?.expr ?? ""}
          onChange={(event) => setCondition(event.currentTarget.value)}
        />
      )}
    </Stack>
  );
}
