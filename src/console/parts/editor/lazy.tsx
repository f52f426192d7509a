/** The editor and the difference view, loaded when they are first shown. */
import { type ComponentProps, lazy, Suspense } from "react";
import { Loading } from "../elements/Loading.tsx";

const LazyEditor = lazy(() => import("./Editor.tsx"));
const LazyDifference = lazy(() => import("./Difference.tsx"));

export const Code = (props: ComponentProps<typeof LazyEditor>) => (
  <Suspense fallback={<Loading rows={3} />}>
    <LazyEditor {...props} />
  </Suspense>
);

export const CodeDifference = (props: ComponentProps<typeof LazyDifference>) => (
  <Suspense fallback={<Loading rows={3} />}>
    <LazyDifference {...props} />
  </Suspense>
);
