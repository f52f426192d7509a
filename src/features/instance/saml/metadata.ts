/** Parses and validates the metadata of SAML 2.0 identity providers. */
import { X509Certificate } from "node:crypto";
import { BadRequest } from "../../../lib/errors.ts";

/** The namespace of SAML metadata (saml-metadata-2.0-os). */
const METADATA_NAMESPACE = "urn:oasis:names:tc:SAML:2.0:metadata";
const BINDINGS: Record<string, string> = {
  "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect": "HTTP-Redirect",
  "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST": "HTTP-POST",
};
const SAML2_PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";

/** Upper limit of metadata: federations of thousands have some megabytes, a single provider some kilobytes. */
export const MAX_METADATA_CHARS = 5_000_000;

export interface IdentityProvider {
  entity_id: string;
  sign_on: { binding: string; url: string }[];
  /** X.509 certificates (base64 of DER) with subject and expiry. */
  certificates: { base64: string; subject: string; valid_to: Date }[];
}

/** An element in the parser's form: attributes start with `@`, text is `#text`, children are arrays. */
interface XmlElement {
  [name: string]: unknown;
}

/** Parses and validates the metadata. @throws BadRequest that names the first problem */
export async function readMetadata(xml: string, now: Date): Promise<IdentityProvider> {
  const provider = findProvider(await parseXml(xml), now);
  const entity_id = readAttribute(provider, "entityID");
  if (!entity_id) throw createMetadataError("EntityDescriptor has no entityID");
  const [descriptor] = findChildren(provider, "IDPSSODescriptor");
  if (!descriptor) {
    throw createMetadataError(
      findChildren(provider, "SPSSODescriptor").length > 0
        ? "it describes a service provider (SPSSODescriptor), not an identity provider (IDPSSODescriptor)"
        : "EntityDescriptor has no IDPSSODescriptor: it describes no identity provider",
    );
  }
  const protocols = (readAttribute(descriptor, "protocolSupportEnumeration") ?? "").split(/\s+/);
  if (!protocols.includes(SAML2_PROTOCOL))
    throw createMetadataError(`IDPSSODescriptor does not support ${SAML2_PROTOCOL}`);
  requireUnexpired("IDPSSODescriptor", descriptor, now);
  return {
    entity_id,
    sign_on: readSignOnServices(descriptor),
    certificates: readCertificates(descriptor, now),
  };
}

function createMetadataError(what: string, cause?: unknown): BadRequest {
  return new BadRequest(`the SAML metadata cannot be used: ${what}`, { cause });
}

async function parseXml(xml: string): Promise<XmlElement> {
  if (xml.trim() === "") throw createMetadataError("it is empty");
  if (xml.length > MAX_METADATA_CHARS)
    throw createMetadataError(`it is longer than ${MAX_METADATA_CHARS} characters`);
  // Rejects entity declarations, which allow entity expansion and external entities (XXE).
  if (/<!(DOCTYPE|ENTITY)/i.test(xml))
    throw createMetadataError("it has a DOCTYPE, which metadata never needs");
  const { XMLParser, XMLValidator } = await import("fast-xml-parser");
  const valid = XMLValidator.validate(xml);
  if (valid !== true)
    throw createMetadataError(
      `it is not XML: ${valid.err.msg} (line ${valid.err.line}, column ${valid.err.col})`,
    );
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "@",
    parseTagValue: false,
    parseAttributeValue: false,
    alwaysCreateTextNode: true,
    isArray: (_name, _path, _leaf, isAttribute) => !isAttribute,
    ignoreDeclaration: true,
    ignorePiTags: true,
  });
  try {
    return parser.parse(xml) as XmlElement;
  } catch (cause) {
    throw createMetadataError("it is not XML", cause);
  }
}

/** Returns the only EntityDescriptor with an identity provider: the root element, or one in an EntitiesDescriptor. */
function findProvider(document: XmlElement, now: Date): XmlElement {
  const [root, more] = Object.entries(document).filter(([name]) => name !== "#text");
  if (!root || more) throw createMetadataError("it has no single root element");
  const [name, [element]] = root as [string, [XmlElement]];
  const [prefix, local] = name.includes(":") ? (name.split(":") as [string, string]) : ["", name];
  if (local !== "EntityDescriptor" && local !== "EntitiesDescriptor") {
    throw createMetadataError(`its root element is ${name.slice(0, 60)}, not EntityDescriptor`);
  }
  const namespace = readAttribute(element, prefix === "" ? "xmlns" : `xmlns:${prefix}`);
  if (namespace !== METADATA_NAMESPACE)
    throw createMetadataError(`${name} is not of the namespace ${METADATA_NAMESPACE}`);
  requireUnexpired(local, element, now);
  if (local === "EntityDescriptor") return element;
  const entities = findChildren(element, "EntityDescriptor").filter(
    (entity) => findChildren(entity, "IDPSSODescriptor").length > 0,
  );
  if (entities.length !== 1) {
    throw createMetadataError(
      `EntitiesDescriptor holds ${entities.length} identity providers: give the EntityDescriptor of one`,
    );
  }
  requireUnexpired("EntityDescriptor", entities[0]!, now);
  return entities[0]!;
}

function requireUnexpired(name: string, element: XmlElement, now: Date): void {
  const until = readAttribute(element, "validUntil");
  if (until === undefined) return;
  const moment = new Date(until);
  if (Number.isNaN(moment.getTime()))
    throw createMetadataError(`validUntil of ${name} is not a time: "${until.slice(0, 40)}"`);
  if (moment <= now) throw createMetadataError(`${name} was valid until ${moment.toISOString()}`);
}

function readSignOnServices(descriptor: XmlElement): IdentityProvider["sign_on"] {
  const services = findChildren(descriptor, "SingleSignOnService");
  if (services.length === 0) throw createMetadataError("IDPSSODescriptor has no SingleSignOnService");
  const usable = services.flatMap((service) => {
    const binding = BINDINGS[readAttribute(service, "Binding") ?? ""];
    return binding ? [{ binding, url: readAttribute(service, "Location") ?? "" }] : [];
  });
  if (usable.length === 0) {
    throw createMetadataError(
      "no SingleSignOnService has a Binding that browsers can use: HTTP-Redirect or HTTP-POST",
    );
  }
  const wrong = usable.find(({ url }) => !/^https?:\/\//.test(url) || !URL.canParse(url));
  if (wrong)
    throw createMetadataError(
      `the Location of SingleSignOnService (${wrong.binding}) is not a URL: "${wrong.url.slice(0, 100)}"`,
    );
  return usable;
}

function readCertificates(descriptor: XmlElement, now: Date): IdentityProvider["certificates"] {
  const keys = findChildren(descriptor, "KeyDescriptor").filter(
    (key) => (readAttribute(key, "use") ?? "signing") === "signing",
  );
  if (keys.length === 0)
    throw createMetadataError(
      "IDPSSODescriptor has no KeyDescriptor for signing: answers could not be checked",
    );
  const found = keys
    .flatMap((key) => findChildren(key, "KeyInfo"))
    .flatMap((info) => findChildren(info, "X509Data"))
    .flatMap((data) => findChildren(data, "X509Certificate"))
    .map((certificate) => readText(certificate).replace(/\s+/g, ""));
  if (found.length === 0) throw createMetadataError("KeyDescriptor has no X509Certificate");
  const certificates = found.map(readCertificate);
  if (certificates.some(({ valid_to }) => valid_to > now)) return certificates;
  const { subject, valid_to } = certificates[0]!;
  throw createMetadataError(
    `the certificate of ${subject} was valid until ${valid_to.toISOString()}, and there is no other`,
  );
}

function readCertificate(base64: string): IdentityProvider["certificates"][number] {
  try {
    const { subject, validTo } = new X509Certificate(Buffer.from(base64, "base64"));
    return { base64, subject: (subject ?? "").replaceAll("\n", ", "), valid_to: new Date(validTo) };
  } catch (cause) {
    throw createMetadataError("X509Certificate holds no certificate in base64", cause);
  }
}

/** Returns the children with a local name, ignoring the namespace prefix. */
function findChildren(element: XmlElement, name: string): XmlElement[] {
  return Object.entries(element).flatMap(([tag, found]) =>
    tag.split(":").at(-1) === name && Array.isArray(found) ? (found as XmlElement[]) : [],
  );
}

function readAttribute(element: XmlElement, name: string): string | undefined {
  const value = element[`@${name}`];
  return typeof value === "string" ? value.trim() : undefined;
}

function readText(element: XmlElement): string {
  const text = element["#text"];
  return typeof text === "string" ? text : "";
}
