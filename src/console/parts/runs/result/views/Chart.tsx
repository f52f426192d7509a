/** Line or bar chart of the numbers of a table. Loaded lazily. */
import { Group, SegmentedControl, Text, UnstyledButton } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type PointerEvent, useState } from "react";
import { type ChartData, computeTicks, downsample, type Series } from "./chart-data.ts";

const HEIGHT_PX = 260;
const LEFT_PX = 64;
const RIGHT_PX = 16;
const TOP_PX = 12;
const BOTTOM_PX = 232;
const MAX_POINTS = 1_000;
/** More bars than this are too thin to tell apart. */
const MAX_BARS = 60;
/** Number of available colours; further columns can be shown instead of these. */
const MAX_SERIES = 6;
const SHOWN_AT_FIRST = 3;

const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 4 });
const exact = new Intl.NumberFormat(undefined, { maximumFractionDigits: 10 });

type Shape = "lines" | "bars";

function extent(series: Series[]): [number, number] {
  let [least, most] = [0, 0];
  for (const { values } of series) {
    for (const value of values) {
      if (value === undefined) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return least === most ? [0, 1] : [least, most];
}

export default function Chart({ data }: { data: ChartData }) {
  const series = data.series.slice(0, MAX_SERIES);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(
    () => new Set(series.slice(SHOWN_AT_FIRST).map(({ name }) => name)),
  );
  const canBeBars = data.labels.length <= MAX_BARS;
  const [shape, setShape] = useState<Shape>("lines");
  const [at, setAt] = useState<number>();
  const { ref, width } = useElementSize();
  const shown = series.filter(({ name }) => !hidden.has(name));
  const [least, most] = extent(shown);
  const isBars = shape === "bars" && canBeBars;
  // Bars are centred on their position, so they need room at both ends.
  const inset = isBars ? (width - LEFT_PX - RIGHT_PX) / data.labels.length / 2 : 0;
  const from = LEFT_PX + inset;
  const room = Math.max(width - RIGHT_PX - inset - from, 1);
  const x = (index: number) =>
    from + (isBars ? index / Math.max(data.labels.length - 1, 1) : data.places[index]!) * room;
  const y = (value: number) => BOTTOM_PX - ((value - least) / (most - least)) * (BOTTOM_PX - TOP_PX);
  const colorOf = (name: string) => series.findIndex((each) => each.name === name);
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const pointed = event.clientX - event.currentTarget.getBoundingClientRect().left;
    let nearest = 0;
    for (let index = 1; index < data.labels.length; index++) {
      if (Math.abs(x(index) - pointed) < Math.abs(x(nearest) - pointed)) nearest = index;
    }
    setAt(nearest);
  };
  const toggle = (name: string) =>
    setHidden((before) => {
      const next = new Set(before);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  const last = data.labels.length - 1;
  const told = shown.map(({ name }) => name).join(", ");
  return (
    <div className="chart">
      <Group gap="xs" mb="xs">
        {series.map(({ name, values }) => (
          <UnstyledButton
            key={name}
            className="chart-key"
            data-color={colorOf(name)}
            aria-pressed={!hidden.has(name)}
            onClick={() => toggle(name)}
          >
            {name}
            {at !== undefined && !hidden.has(name) && values[at] !== undefined && (
              <b> {exact.format(values[at])}</b>
            )}
          </UnstyledButton>
        ))}
        {canBeBars && (
          <SegmentedControl
            size="xs"
            ml="auto"
            aria-label="Shape of the chart"
            value={shape}
            onChange={(value) => setShape(value as Shape)}
            data={[
              { value: "lines", label: "Lines" },
              { value: "bars", label: "Bars" },
            ]}
          />
        )}
      </Group>
      <div ref={ref}>
        <svg
          role="img"
          height={HEIGHT_PX}
          aria-label={`Chart of ${told || "nothing"}, from ${data.labels[0]} to ${data.labels[last]}, values between ${exact.format(least)} and ${exact.format(most)}`}
          onPointerMove={point}
          onPointerLeave={() => setAt(undefined)}
        >
          {computeTicks(least, most).map((tick) => (
            <g key={tick}>
              <line className="rule" x1={LEFT_PX} x2={width - RIGHT_PX} y1={y(tick)} y2={y(tick)} />
              <text x={LEFT_PX - 8} y={y(tick) + 4} textAnchor="end">
                {short.format(tick)}
              </text>
            </g>
          ))}
          {at !== undefined && <line className="here" x1={x(at)} x2={x(at)} y1={TOP_PX} y2={BOTTOM_PX} />}
          {shown.map((each, index) =>
            isBars ? (
              <Bars
                key={each.name}
                series={each}
                color={colorOf(each.name)}
                x={x}
                y={y}
                nth={index}
                of={shown.length}
                width={room / data.labels.length}
              />
            ) : (
              <Line key={each.name} series={each} color={colorOf(each.name)} x={x} y={y} />
            ),
          )}
          <text x={LEFT_PX} y={HEIGHT_PX - 8}>
            {data.labels[0]?.slice(0, 40)}
          </text>
          <text x={width - RIGHT_PX} y={HEIGHT_PX - 8} textAnchor="end">
            {data.labels[last]?.slice(0, 40)}
          </text>
        </svg>
      </div>
      <Text fz="xs" c="dimmed" h="1.2rem" truncate>
        {at === undefined
          ? data.series.length > MAX_SERIES &&
            `The first ${MAX_SERIES} of ${data.series.length} columns of numbers.`
          : data.labels[at]}
      </Text>
    </div>
  );
}

interface Drawn {
  series: Series;
  color: number;
  x: (index: number) => number;
  y: (value: number) => number;
}

function Line({ series: { values }, color, x, y }: Drawn) {
  const kept = downsample(values, MAX_POINTS);
  const path = kept
    .map((index, nth) => {
      const isGap = nth === 0 || (kept.length === values.length && kept[nth - 1] !== index - 1);
      return `${isGap ? "M" : "L"}${x(index).toFixed(1)} ${y(values[index]!).toFixed(1)}`;
    })
    .join("");
  return (
    <>
      <path className="chart-line" data-color={color} d={path} />
      {kept.length <= MAX_BARS &&
        kept.map((index) => (
          <circle
            key={index}
            className="chart-fill"
            data-color={color}
            cx={x(index)}
            cy={y(values[index]!)}
            r={2.5}
          />
        ))}
    </>
  );
}

function Bars({
  series: { values },
  color,
  x,
  y,
  nth,
  of,
  width,
}: Drawn & { nth: number; of: number; width: number }) {
  const wide = (width * 0.8) / of;
  return values.map((value, index) =>
    value === undefined ? null : (
      <rect
        key={index}
        className="chart-fill"
        data-color={color}
        x={x(index) - (wide * of) / 2 + nth * wide}
        width={Math.max(wide - 1, 1)}
        y={Math.min(y(value), y(0))}
        height={Math.max(Math.abs(y(value) - y(0)), 1)}
      />
    ),
  );
}
