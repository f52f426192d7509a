/** Pages whose files are loaded before they are shown, or when they are first shown. */
import { type ComponentType, lazy, useState } from "react";
import type { PageModule } from "../shell/navigation.ts";
import type { Page } from "./pages.ts";

/**
 * Returns the page of a module, which is loaded when it is first shown or `load` is called. A loaded page is rendered
 * immediately: React would keep a fallback for at least 300 ms.
 */
export function createLazyPage(read: Page["load"]): {
  Component: ComponentType;
  /** Resolves to undefined if the page cannot be loaded; the error is shown in its place. */
  load: () => Promise<PageModule | undefined>;
} {
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
  return { Component, load: () => remember().catch(() => undefined) };
}
