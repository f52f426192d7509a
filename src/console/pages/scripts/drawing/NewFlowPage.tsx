import { Anchor, Button, Radio, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { call } from "../../../api/call.ts";
import { memberOf, whoami } from "../../../api/session.ts";
import { PageHead } from "../../../parts/PageHead.tsx";
import { to, useWorkspace } from "../../../parts/places.ts";
import { writeNewFlow } from "./new-flows.ts";
import { TEMPLATES } from "./templates/templates.ts";

/** Asks for a place and a beginning of a new flow, then draws it. */
export default function NewFlowPage() {
  const workspace = useWorkspace();
  const [, go] = useLocation();
  const email = useQuery(whoami).data?.email;
  const member = useQuery(memberOf(workspace)).data;
  const folders =
    useQuery({
      queryKey: [workspace, "folders", "names"],
      queryFn: ({ signal }) => call("GET /w/{workspace}/folders/listnames", { workspace }, signal),
    }).data ?? [];
  const [folder, setFolder] = useState<string>();
  const [name, setName] = useState("");
  const [summary, setSummary] = useState("");
  const [template, setTemplate] = useState(TEMPLATES[0]!.id);
  const owner = folder ?? (member ? `u/${member.username}` : "");
  const isReady = email !== undefined && owner !== "" && /^[\w-]+(\/[\w-]+)*$/.test(name);
  return (
    <div className="page">
      <PageHead
        title="New flow"
        above={
          <Anchor component={Link} href={to.home(workspace)} fz="sm">
            Home
          </Anchor>
        }
        about="Steps that run one after the other, side by side, again and again, or after an approval."
      />
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isReady) return;
          const path = `${owner}/${name}`;
          const { flow } = TEMPLATES.find(({ id }) => id === template)!;
          writeNewFlow(email, workspace, { ...flow, path, summary: summary || String(flow.summary ?? "") });
          go(to.draw(workspace, path));
        }}
      >
        <div className="line">
          <Select
            label="Belongs to"
            w={190}
            allowDeselect={false}
            data={[...(member ? [`u/${member.username}`] : []), ...folders.map((each) => `f/${each}`)]}
            value={owner}
            onChange={(value) => setFolder(value ?? undefined)}
          />
          <TextInput
            label="Name"
            placeholder="nightly_report"
            description="Letters, digits, _, - and /"
            inputWrapperOrder={["label", "input", "description"]}
            value={name}
            onChange={(event) => setName(event.currentTarget.value.trim())}
            style={{ flex: "1 1 12rem" }}
          />
          <TextInput
            label="Summary"
            placeholder="Nightly report"
            value={summary}
            onChange={(event) => setSummary(event.currentTarget.value)}
            style={{ flex: "1 1 14rem" }}
          />
        </div>
        <Radio.Group label="Begin with" value={template} onChange={setTemplate}>
          <div className="stack" style={{ marginTop: "0.5rem" }}>
            {TEMPLATES.map(({ id, label, about }) => (
              <Radio key={id} value={id} label={label} description={about} />
            ))}
          </div>
        </Radio.Group>
        <Button type="submit" w="fit-content" disabled={!isReady}>
          Draw it
        </Button>
      </form>
    </div>
  );
}
