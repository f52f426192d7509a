import type { PythonIndex } from "../../../engines/runner/types.ts";
import type { App } from "../../../platform/app/context.ts";

/** Returns the Python package index, from the instance's current settings. */
export function readPythonIndex(settings: App["settings"]): PythonIndex {
  const list = (text: string | undefined) => (text ?? "").split(/[\s,]+/).filter((each) => each !== "");
  return {
    url: settings.get("pip_index_url"),
    extra_urls: list(settings.get("pip_extra_index_url")),
    trusted_hosts: list(settings.get("pip_trusted_host")),
    wheels: settings.get("pip_find_links"),
  };
}
