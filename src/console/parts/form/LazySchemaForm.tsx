/** The form of a JSON Schema, whose code is loaded when a page needs it. */
import { type ComponentProps, lazy, Suspense } from "react";
import { Loading } from "../elements/Loading.tsx";

const SchemaForm = lazy(() => import("./SchemaForm.tsx"));

/** Shows lines of a loading form until the code is there. */
export function LazySchemaForm(props: ComponentProps<typeof SchemaForm>) {
  return (
    <Suspense fallback={<Loading rows={2} />}>
      <SchemaForm {...props} />
    </Suspense>
  );
}
