/** The settings of the process (src/platform/config/config.ts) as they are shown. */
import { z } from "zod";
import { BadRequest } from "../../lib/errors.ts";
import { type Config, type ConfigName, SETTINGS } from "./config.ts";
import { KEYS } from "./keys.ts";
import { MASK } from "./masking.ts";

export const ProcessSetting = z.object({
  value: z.union([z.string(), z.number(), z.null()]),
  source: z.enum(["flag", "environment", "default"]),
  variable: z.string(),
  meaning: z.string(),
  /** The setting of the instance that is one thing with it: what is stored there holds where this has its default. */
  setting: z.string().optional(),
});
export type ProcessSetting = z.input<typeof ProcessSetting>;

const SETTING_OF = new Map(
  Object.entries(KEYS).flatMap(([key, definition]) =>
    "config" in definition ? [[definition.config as ConfigName, key]] : [],
  ),
);

/**
 * Refuses to store what only the process can be told: it would never hold.
 * @throws BadRequest that says where it is set instead
 */
export function refuseProcessSetting(key: string): void {
  if (!Object.hasOwn(SETTINGS, key)) return;
  const name = key as ConfigName;
  const setting = SETTING_OF.get(name);
  throw new BadRequest(
    setting === undefined
      ? `${key} is a setting of the server's process: set ${SETTINGS[name].variable} where the server is started, and restart it`
      : `${key} is stored as ${setting}: set that`,
  );
}

/** Every setting by name, with secrets hidden. */
export function describeProcess(config: Config): Record<string, ProcessSetting> {
  return Object.fromEntries(
    (Object.keys(SETTINGS) as ConfigName[]).map((name) => {
      const { variable, meaning, kind } = SETTINGS[name];
      const value = config[name] ?? null;
      const setting = SETTING_OF.get(name);
      return [
        name,
        {
          value: kind === "secret" && value !== null ? MASK : value,
          source: config.sources[name],
          variable,
          meaning,
          ...(setting === undefined ? {} : { setting }),
        },
      ];
    }),
  );
}
