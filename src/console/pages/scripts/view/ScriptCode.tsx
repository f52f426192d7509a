import { Alert, Anchor, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { callOperation } from "../../../api/call.ts";
import type { Script } from "../../../api/interface.d.ts";
import { Code } from "../../../parts/editor/lazy.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";

/** The deployed code, its imports, and the scripts and flows that import it. */
export function ScriptCode({ workspace, script }: { workspace: string; script: Script }) {
  const dependents =
    useQuery({
      queryKey: [workspace, "scripts", "dependents", script.path],
      queryFn: ({ signal }) =>
        callOperation(
          "GET /w/{workspace}/workspaces/get_dependents/{imported_path}",
          { workspace, imported_path: script.path },
          signal,
        ),
    }).data ?? [];
  const imports = script.imports ?? [];
  return (
    <>
      {script.lock_error_logs && (
        <Alert color="red" variant="light" mb="md" role="alert">
          <Text fw={500}>Its packages could not be resolved</Text>
          <pre className="plain">{script.lock_error_logs}</pre>
        </Alert>
      )}
      <Code label={`Code of ${script.path}`} language={script.language} value={script.content} />
      <Text c="dimmed" mt="xs" fz="xs">
        Deployed by {script.created_by}, <Moment at={script.created_at} />. Version{" "}
        <span className="mono">{script.hash}</span>
      </Text>
      {imports.length > 0 && (
        <section aria-label="Imports">
          <Title order={2} mt="lg" mb="xs">
            Imports
          </Title>
          {imports.map(({ path, hash }) => (
            <div key={path}>
              <Anchor component={Link} href={linkTo.script(workspace, path)}>
                {path}
              </Anchor>{" "}
              <span className="quiet mono">{hash}</span>
            </div>
          ))}
        </section>
      )}
      {dependents.length > 0 && (
        <section aria-label="Imported by">
          <Title order={2} mt="lg" mb="xs">
            Imported by
          </Title>
          <Text c="dimmed" mb="xs">
            Their packages are resolved again when this script is deployed.
          </Text>
          {dependents.map(({ importer_path, importer_kind }) => (
            <div key={`${importer_kind} ${importer_path}`}>
              {importer_kind === "script" ? (
                <Anchor component={Link} href={linkTo.script(workspace, importer_path)}>
                  {importer_path}
                </Anchor>
              ) : (
                `Flow ${importer_path}`
              )}
            </div>
          ))}
        </section>
      )}
      {script.lock && (
        <details className="more">
          <summary>Locked packages</summary>
          <pre className="plain">{script.lock}</pre>
        </details>
      )}
    </>
  );
}
