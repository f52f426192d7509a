/** What a licence means to workspaces. Whoever knows of one says so here, so that no workspace has to ask. */
import type { App } from "../../context.ts";
import { perApp } from "../../lib/per-app.ts";

/** Held by a function, since a licence comes and goes while the server runs. */
const licenceOf = perApp<App, { isValid: () => boolean | Promise<boolean> }>(() => ({
  isValid: () => false,
}));

/** Called once, when the app is put together. @param isValid whether there is a licence now */
export function premiumWith(app: App, isValid: () => boolean | Promise<boolean>): void {
  licenceOf(app).isValid = isValid;
}

/** Every workspace of an instance with a valid licence is premium, none of another. */
export async function isPremium(app: App): Promise<boolean> {
  return licenceOf(app).isValid();
}
