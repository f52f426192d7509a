/**
 * All settings of the process in one table: name, environment variable, default and meaning. `svc serve --help` and
 * `svc config` print it. Flags override the environment, which overrides the default.
 */
import { resolve } from "node:path";
import { BadRequest } from "../../lib/errors.ts";
import { JOB_SETTINGS } from "./job-settings.ts";
import { ADDRESS_SETTINGS, SERVER_SETTINGS } from "./server-settings.ts";
import { readVariable, type Setting } from "./setting.ts";

export const PROCESS_SETTINGS = { ...ADDRESS_SETTINGS, ...JOB_SETTINGS, ...SERVER_SETTINGS };

type Value<S extends Setting> = S["kind"] extends "number"
  ? number
  : S["default"] extends undefined
    ? string | undefined
    : string;

type Values = { readonly [K in keyof typeof PROCESS_SETTINGS]: Value<(typeof PROCESS_SETTINGS)[K]> };
export type ConfigName = keyof Values;
export type ConfigOverrides = { [K in ConfigName]?: Values[K] | undefined };

/** Origin of a setting's value; `directory` means that it is stored in the data directory. */
export type ConfigSource = "flag" | "environment" | "directory" | "default";

export type Config = Values & { readonly sources: Readonly<Record<ConfigName, ConfigSource>> };

/**
 * Resolves every setting: from `overrides` (flags), then `environment`, then `stored` in the data directory, then the
 * default.
 * @throws BadRequest that lists all wrong values at once
 */
export function loadConfig(
  overrides: ConfigOverrides = {},
  environment: Record<string, string | undefined> = process.env,
  stored: ConfigOverrides = {},
): Config {
  const problems: string[] = [];
  const config: Record<string, string | number | undefined> = {};
  const sources = {} as Record<ConfigName, ConfigSource>;
  for (const [name, setting] of Object.entries(PROCESS_SETTINGS) as [ConfigName, Setting][]) {
    const text = readVariable(environment, setting.variable, setting.also);
    const given = overrides[name] ?? text ?? stored[name] ?? setting.default;
    sources[name] = findSource(overrides[name], text, stored[name]);
    config[name] = setting.kind === "number" ? Number(given) : given;
    const { least = 0 } = setting;
    if (setting.kind === "number" && !(Number.isFinite(config[name]) && Number(config[name]) >= least)) {
      problems.push(`${setting.variable}=${given}: must be a number, ${least} or more (${setting.meaning})`);
    }
    if (setting.oneOf && !setting.oneOf.includes(String(given))) {
      problems.push(`${setting.variable}=${given}: must be one of ${setting.oneOf.join(", ")}`);
    }
  }
  if (problems.length > 0) throw new BadRequest(`bad settings:\n${problems.join("\n")}`);
  config.data_dir = resolve(String(config.data_dir));
  return Object.freeze({ ...config, sources }) as Config;
}

/** Returns the first source that has a value. */
function findSource(override: unknown, environment: unknown, stored: unknown): ConfigSource {
  if (override !== undefined) return "flag";
  if (environment !== undefined) return "environment";
  return stored !== undefined ? "directory" : "default";
}
