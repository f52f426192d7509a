import { Anchor, Button, Group, Image, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useEffect, useMemo, useState } from "react";
import { getOperationUrl } from "../../../../api/call.ts";
import { notifyError } from "../../../elements/Problem.tsx";
import { decodeBase64, saveFile } from "./save.ts";

interface Props {
  name: string;
  base64: string;
  type: string;
}

/** A file in a result, to be downloaded; a PDF is also shown. */
export function FileResult(file: Props) {
  return (
    <>
      {file.type === "application/pdf" && <Pdf base64={file.base64} />}
      <Save {...file} />
    </>
  );
}

function Save({ name, base64, type }: Props) {
  const save = () => {
    try {
      saveFile(name, type, decodeBase64(base64));
    } catch {
      notifyError(new Error("The file is not valid base64."));
    }
  };
  return (
    <Button
      m="md"
      variant="default"
      maw="calc(100% - 2rem)"
      leftSection={<IconDownload size={16} />}
      onClick={save}
    >
      Save {name}
    </Button>
  );
}

/** Decodes a PDF. @returns undefined if the bytes are not a PDF; others are never passed to the browser's viewer */
function decodePdf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = decodeBase64(base64);
    return new TextDecoder("latin1").decode(bytes.subarray(0, 5)) === "%PDF-" ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Shows a PDF in the browser's own viewer, which runs in a separate process and cannot access the page. */
function Pdf({ base64 }: { base64: string }) {
  const bytes = useMemo(() => decodePdf(base64), [base64]);
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!bytes || !navigator.pdfViewerEnabled) return;
    const made = URL.createObjectURL(new Blob([bytes], { type: "application/pdf" }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes]);
  if (!bytes) {
    return (
      <Text p="md" pb={0} c="dimmed">
        The run declares a PDF, but this file is not one. You can still save it.
      </Text>
    );
  }
  if (address)
    return <object className="pdf" type="application/pdf" data={address} aria-label="Result as PDF" />;
  return (
    <Text p="md" pb={0} c="dimmed">
      This browser cannot show PDF files: save the file to read it.
    </Text>
  );
}

export interface StoredFile {
  key: string;
  storage: string | undefined;
}

const PICTURE = /\.(png|jpe?g|gif|webp)$/i;

/** Files in the workspace's storage, to be downloaded; a single image is shown. */
export function StoredFiles({ workspace, files }: { workspace: string; files: StoredFile[] }) {
  const addressFor = ({ key, storage }: StoredFile) =>
    getOperationUrl("GET /w/{workspace}/job_helpers/download_s3_file", {
      workspace,
      query: { file_key: key, ...(storage ? { storage } : {}) },
    });
  const [only, ...more] = files;
  const [isShown, setShown] = useState(true);
  return (
    <>
      {only && more.length === 0 && isShown && PICTURE.test(only.key) && (
        <Image
          src={addressFor(only)}
          alt={only.key}
          fit="contain"
          mah={560}
          w="auto"
          maw="100%"
          p="md"
          onError={() => setShown(false)}
        />
      )}
      <ul className="files">
        {files.map((file) => (
          <li key={`${file.storage} ${file.key}`}>
            <Group gap="xs" wrap="nowrap">
              <IconDownload size={15} aria-hidden />
              <Anchor download href={addressFor(file)} className="wrap">
                {file.key}
              </Anchor>
              {file.storage && <Text c="dimmed">in {file.storage}</Text>}
            </Group>
          </li>
        ))}
      </ul>
    </>
  );
}
