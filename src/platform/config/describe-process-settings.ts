/** The process settings (`config.ts`) as shown to users. */
import { BadRequest } from "../../lib/errors.ts";
import * as z from "../../lib/zod/z.ts";
import { type Config, type ConfigName, PROCESS_SETTINGS } from "./config.ts";
import { INSTANCE_SETTINGS } from "./instance-settings.ts";
import { SECRET_MASK } from "./masking.ts";

export const ProcessSetting = z.object({
  value: z.union([z.string(), z.number(), z.null()]),
  source: z.enum(["flag", "environment", "directory", "default"]),
  variable: z.string(),
  meaning: z.string(),
  /** Instance setting with the same meaning; its stored value applies while the process setting has its default. */
  setting: z.string().optional(),
});
export type ProcessSetting = z.input<typeof ProcessSetting>;

const INSTANCE_KEY_OF = new Map(
  Object.entries(INSTANCE_SETTINGS).flatMap(([key, definition]) =>
    "config" in definition ? [[definition.config as ConfigName, key]] : [],
  ),
);

/**
 * Rejects keys of process settings, since a stored value would have no effect.
 * @throws BadRequest that says where to set it instead
 */
export function requireInstanceSetting(key: string): void {
  if (!Object.hasOwn(PROCESS_SETTINGS, key)) return;
  const name = key as ConfigName;
  const setting = INSTANCE_KEY_OF.get(name);
  throw new BadRequest(
    setting === undefined
      ? `${key} is a setting of the server's process: set ${PROCESS_SETTINGS[name].variable} where the server is started, and restart it`
      : `${key} is stored as ${setting}: set that`,
  );
}

/** Describes every process setting by name, with secrets masked. */
export function describeProcessSettings(config: Config): Record<string, ProcessSetting> {
  return Object.fromEntries(
    (Object.keys(PROCESS_SETTINGS) as ConfigName[]).map((name) => {
      const { variable, meaning, kind } = PROCESS_SETTINGS[name];
      const value = config[name] ?? null;
      const setting = INSTANCE_KEY_OF.get(name);
      return [
        name,
        {
          value: kind === "secret" && value !== null ? SECRET_MASK : value,
          source: config.sources[name],
          variable,
          meaning,
          ...(setting === undefined ? {} : { setting }),
        },
      ];
    }),
  );
}
