import { Group, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";

interface Props {
  title: string;
  /** Shown below the title. */
  about?: ReactNode;
  /** Shown above the title, such as a link back. */
  above?: ReactNode;
  children?: ReactNode;
}

/** Page header with title and actions. Sets the document title and takes the focus after navigation. */
export function PageHead({ title, about, above, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className="page-head">
      <div>
        {above}
        <Title order={1} ref={heading} tabIndex={-1}>
          {title}
        </Title>
        {about && (
          <Text component="div" c="dimmed" mt={4} className="wrap">
            {about}
          </Text>
        )}
      </div>
      {children && <Group gap="xs">{children}</Group>}
    </div>
  );
}
