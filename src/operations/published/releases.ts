import { publishedVersions, type VersionRange } from './facts.ts'

/**
 * The releases of engines whose operations are known, each with the version of Camunda whose published operations it has. `facts.json`
 * has the sources of Camunda. Operaton 1.0.3 to 2.2-M3 publish the 399 operations of Camunda 7.23. The published APIs of the other forks
 * are not on Maven Central. They were read in the templates `engine-rest/engine-rest-openapi/src/main/templates/paths` and the resources
 * `engine-rest/engine-rest/src/main/java` of the repositories cibseven/cibseven, EximeeBPMS/eximeebpms and finos/fluxnova-bpm-platform.
 */
const API_OF = {
  'Camunda 7.22': '7.22',
  'Camunda 7.23': '7.23',
  'Camunda 7.24': '7.24',
  'Operaton 1.0': '7.23',
  'Operaton 2.1': '7.23',
  'CIB seven 2.2': '7.23',
  'CIB seven after 2.2': '7.23',
  'EximeeBPMS 1.3': '7.23',
  'Fluxnova 2.0': '7.23',
  'Fluxnova 3.0': '7.23',
  OrqueIO: '7.23',
} as const satisfies Readonly<Record<string, string>>

/** A family of engines and its version: `Camunda 7.24`. */
export type Release = keyof typeof API_OF

/** All known releases. */
export const RELEASES: readonly Release[] = Object.keys(API_OF).filter(isRelease)

function isRelease(text: string): text is Release {
  return Object.hasOwn(API_OF, text)
}

const CAMUNDA_PACKAGE = 'org.camunda.bpm'

/** The Java package of the classes of a release. Releases that are missing here have not been run, or have Camunda's package. */
const PACKAGE_OF: Readonly<Partial<Record<Release, string>>> = {
  'Operaton 1.0': 'org.operaton.bpm',
  'Operaton 2.1': 'org.operaton.bpm',
}

/** Matches the start of a message that begins with the name of a class of Camunda. */
const CLASS_NAME = /^((?:Cannot invoke ")?)org\.camunda\.bpm(?=\.)/

/** Returns a message of the engine in which a class has its name in a release. Ids of callers later in the message stay unchanged. */
export function withClassNames(message: string, release: Release): string {
  return message.replace(CLASS_NAME, `$1${PACKAGE_OF[release] ?? CAMUNDA_PACKAGE}`)
}

/** Returns the releases that have a published operation, or null if all have it or if no document publishes it. */
export function releasesOf(operationId: string): readonly Release[] | null {
  const versions = publishedVersions(operationId)
  if (versions.since === null && versions.until === null) return null
  return RELEASES.filter((release) => isWithin(API_OF[release], versions))
}

/** Returns whether a release has a published parameter or member. Every release may have it if the release is not known. */
export function hasField(release: Release | null, { versions }: { readonly versions: VersionRange }): boolean {
  return release === null || isWithin(API_OF[release], versions)
}

/** Returns whether a version, as `major.minor`, is in a range. */
export function isWithin(version: string, { since, until }: VersionRange): boolean {
  return (
    (since === null || compareVersions(version, since) >= 0) &&
    (until === null || compareVersions(version, until) <= 0)
  )
}

/** Compares numbers, because `7.9` is older than `7.10`. The result is negative if `left` is older. */
export function compareVersions(left: string, right: string): number {
  const [major = 0, minor = 0] = left.split('.').map(Number)
  const [otherMajor = 0, otherMinor = 0] = right.split('.').map(Number)
  return major - otherMajor || minor - otherMinor
}
