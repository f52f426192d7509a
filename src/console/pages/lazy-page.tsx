/** Pages whose files are loaded before or when they are shown. */
import { type ComponentType, lazy, useState } from "react";
import type { Page } from "./pages.ts";

/**
 * Returns the page of a module, which is loaded when it is first shown or `load` is called. One that is there already is
 * drawn at once: a fallback would stay for the 300 ms that React leaves between a fallback and its content.
 */
export function lazyPage(read: Page["load"]): { Component: ComponentType; load: () => void } {
  let Ready: ComponentType | undefined;
  const remember = async () => {
    const module = await read();
    Ready = module.default;
    return module;
  };
  const Later = lazy(remember);
  const Component = () => {
    const [Shown] = useState<ComponentType>(() => Ready ?? Later);
    return <Shown />;
  };
  // A page that cannot be loaded says so where it is shown.
  return { Component, load: () => void remember().catch(() => {}) };
}
