/** The oldest version that the dependencies support; the same as `engines` in package.json. */
const LEAST = { major: 22, minor: 19 }

/**
 * Returns a one-line message if this version of Node.js is too old, otherwise null. Imports nothing that an older version cannot
 * load.
 */
export function nodeVersionProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > LEAST.major || (major === LEAST.major && minor >= LEAST.minor)) return null
  return `engine-gateway needs Node.js ${LEAST.major}.${LEAST.minor} or later, and this is ${version}`
}
