/** The metadata of a SAML 2.0 identity provider: what of it a login needs, and what is wrong with it. */
import { X509Certificate } from "node:crypto";
import { BadRequest } from "../../../lib/errors.ts";

/** Namespaces of saml-metadata-2.0-os and XML Signature. */
const METADATA = "urn:oasis:names:tc:SAML:2.0:metadata";
const BINDINGS: Record<string, string> = {
  "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect": "HTTP-Redirect",
  "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST": "HTTP-POST",
};
const SAML2 = "urn:oasis:names:tc:SAML:2.0:protocol";

/** The longest metadata read: those of a federation of thousands have some megabytes, those of one provider some kilobytes. */
export const MAX_METADATA = 5_000_000;

export interface IdentityProvider {
  entity_id: string;
  sign_on: { binding: string; url: string }[];
  /** In DER, base64, with whom they are of and how long they hold. */
  certificates: { base64: string; subject: string; valid_to: Date }[];
}

/** An element as the parser gives it: attributes begin with `@`, text is `#text`, children are arrays. */
interface Element {
  [name: string]: unknown;
}

/**
 * Reads the metadata.
 * @throws BadRequest that names the first thing that is wrong
 */
export async function readMetadata(xml: string, now: Date): Promise<IdentityProvider> {
  const provider = providerOf(await parse(xml), now);
  const entity_id = attribute(provider, "entityID");
  if (!entity_id) throw bad("EntityDescriptor has no entityID");
  const [descriptor] = children(provider, "IDPSSODescriptor");
  if (!descriptor) {
    throw bad(
      children(provider, "SPSSODescriptor").length > 0
        ? "it describes a service provider (SPSSODescriptor), not an identity provider (IDPSSODescriptor)"
        : "EntityDescriptor has no IDPSSODescriptor: it describes no identity provider",
    );
  }
  const protocols = (attribute(descriptor, "protocolSupportEnumeration") ?? "").split(/\s+/);
  if (!protocols.includes(SAML2)) throw bad(`IDPSSODescriptor does not support ${SAML2}`);
  refuseExpired("IDPSSODescriptor", descriptor, now);
  return { entity_id, sign_on: signOnOf(descriptor), certificates: certificatesOf(descriptor, now) };
}

function bad(what: string, cause?: unknown): BadRequest {
  return new BadRequest(`the SAML metadata cannot be used: ${what}`, { cause });
}

async function parse(xml: string): Promise<Element> {
  if (xml.trim() === "") throw bad("it is empty");
  if (xml.length > MAX_METADATA) throw bad(`it is longer than ${MAX_METADATA} characters`);
  // What a document declares about itself could make it endless, or read what it should not.
  if (/<!(DOCTYPE|ENTITY)/i.test(xml)) throw bad("it has a DOCTYPE, which metadata never needs");
  const { XMLParser, XMLValidator } = await import("fast-xml-parser");
  const valid = XMLValidator.validate(xml);
  if (valid !== true)
    throw bad(`it is no XML: ${valid.err.msg} (line ${valid.err.line}, column ${valid.err.col})`);
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
    return parser.parse(xml) as Element;
  } catch (cause) {
    throw bad("it is no XML", cause);
  }
}

/** The one EntityDescriptor with an identity provider: at the root, or alone in an EntitiesDescriptor. */
function providerOf(document: Element, now: Date): Element {
  const [root, more] = Object.entries(document).filter(([name]) => name !== "#text");
  if (!root || more) throw bad("it has no single root element");
  const [name, [element]] = root as [string, [Element]];
  const [prefix, local] = name.includes(":") ? (name.split(":") as [string, string]) : ["", name];
  if (local !== "EntityDescriptor" && local !== "EntitiesDescriptor") {
    throw bad(`its root element is ${name.slice(0, 60)}, not EntityDescriptor`);
  }
  const namespace = attribute(element, prefix === "" ? "xmlns" : `xmlns:${prefix}`);
  if (namespace !== METADATA) throw bad(`${name} is not of the namespace ${METADATA}`);
  refuseExpired(local, element, now);
  if (local === "EntityDescriptor") return element;
  const entities = children(element, "EntityDescriptor").filter(
    (entity) => children(entity, "IDPSSODescriptor").length > 0,
  );
  if (entities.length !== 1) {
    throw bad(
      `EntitiesDescriptor holds ${entities.length} identity providers: give the EntityDescriptor of one`,
    );
  }
  refuseExpired("EntityDescriptor", entities[0]!, now);
  return entities[0]!;
}

function refuseExpired(name: string, element: Element, now: Date): void {
  const until = attribute(element, "validUntil");
  if (until === undefined) return;
  const moment = new Date(until);
  if (Number.isNaN(moment.getTime()))
    throw bad(`validUntil of ${name} is no moment: "${until.slice(0, 40)}"`);
  if (moment <= now) throw bad(`${name} was valid until ${moment.toISOString()}`);
}

function signOnOf(descriptor: Element): IdentityProvider["sign_on"] {
  const services = children(descriptor, "SingleSignOnService");
  if (services.length === 0) throw bad("IDPSSODescriptor has no SingleSignOnService");
  const usable = services.flatMap((service) => {
    const binding = BINDINGS[attribute(service, "Binding") ?? ""];
    return binding ? [{ binding, url: attribute(service, "Location") ?? "" }] : [];
  });
  if (usable.length === 0) {
    throw bad("no SingleSignOnService has a Binding that browsers can use: HTTP-Redirect or HTTP-POST");
  }
  const wrong = usable.find(({ url }) => !/^https?:\/\//.test(url) || !URL.canParse(url));
  if (wrong)
    throw bad(
      `the Location of SingleSignOnService (${wrong.binding}) is no URL: "${wrong.url.slice(0, 100)}"`,
    );
  return usable;
}

function certificatesOf(descriptor: Element, now: Date): IdentityProvider["certificates"] {
  const keys = children(descriptor, "KeyDescriptor").filter(
    (key) => (attribute(key, "use") ?? "signing") === "signing",
  );
  if (keys.length === 0)
    throw bad("IDPSSODescriptor has no KeyDescriptor for signing: answers could not be checked");
  const found = keys
    .flatMap((key) => children(key, "KeyInfo"))
    .flatMap((info) => children(info, "X509Data"))
    .flatMap((data) => children(data, "X509Certificate"))
    .map((certificate) => textOf(certificate).replace(/\s+/g, ""));
  if (found.length === 0) throw bad("KeyDescriptor has no X509Certificate");
  const certificates = found.map(readCertificate);
  if (certificates.some(({ valid_to }) => valid_to > now)) return certificates;
  const { subject, valid_to } = certificates[0]!;
  throw bad(`the certificate of ${subject} was valid until ${valid_to.toISOString()}, and there is no other`);
}

function readCertificate(base64: string): IdentityProvider["certificates"][number] {
  try {
    const { subject, validTo } = new X509Certificate(Buffer.from(base64, "base64"));
    return { base64, subject: (subject ?? "").replaceAll("\n", ", "), valid_to: new Date(validTo) };
  } catch (cause) {
    throw bad("X509Certificate holds no certificate in base64", cause);
  }
}

/** Children of a local name, whatever prefix they have. */
function children(element: Element, name: string): Element[] {
  return Object.entries(element).flatMap(([tag, found]) =>
    tag.split(":").at(-1) === name && Array.isArray(found) ? (found as Element[]) : [],
  );
}

function attribute(element: Element, name: string): string | undefined {
  const value = element[`@${name}`];
  return typeof value === "string" ? value.trim() : undefined;
}

function textOf(element: Element): string {
  const text = element["#text"];
  return typeof text === "string" ? text : "";
}
