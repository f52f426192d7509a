/**
 * What a feature contributes to what concerns all features. Each declares it once, in its `feature.ts`; whoever needs all
 * of them (rights, renaming, key rotation, export, retention …) walks over `app.features` and imports no feature.
 */
export interface Feature {
  /** Below `src/features`, such as `code/scripts`. */
  folder: string;
}
