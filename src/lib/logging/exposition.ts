/** The text format in which Prometheus reads figures (exposition format 0.0.4). */

/** One line of a metric. */
export interface Figure {
  value: number;
  labels?: Record<string, string | number>;
  /** Where it differs from the metric's: `…_bucket`, `…_sum`, `…_count`. */
  metricName?: string;
}

export interface Metric {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  figures: readonly Figure[];
}

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function toExposition(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, type, help, figures }) => {
      const lines = figures.map((figure) => lineOf(figure, name));
      return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
    })
    .join("\n");
}

function lineOf({ value, labels = {}, metricName }: Figure, name: string): string {
  const said = Object.entries(labels).map(
    ([label, text]) => `${label}="${escaped(String(text)).replaceAll('"', '\\"')}"`,
  );
  const number = Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  return `${metricName ?? name}${said.length > 0 ? `{${said.join(",")}}` : ""} ${number}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
