/** Error boundary with a message and a way to retry. */
import { Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
}

/** Whether the error comes from an update: a page loaded before it fails to import files of the old version. */
const isOutdated = (error: Error) =>
  /dynamically imported module|Importing a module|error loading/i.test(error.message);

export class ErrorBoundary extends Component<Props, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    const outdated = isOutdated(error);
    return (
      <div className="page page-narrow" role="alert">
        <Stack>
          <Title order={1}>{outdated ? "There is a newer version" : "This page failed"}</Title>
          <Text>
            {outdated
              ? "The server was updated while this page was open. Reload the page to continue."
              : "This is an error of the console. Nothing on the server was changed."}
          </Text>
          {!outdated && <Code block>{error.message}</Code>}
          <Group>
            <Button onClick={() => location.reload()}>Reload</Button>
            <Button variant="default" onClick={() => this.setState({})}>
              Try once more
            </Button>
          </Group>
        </Stack>
      </div>
    );
  }
}
