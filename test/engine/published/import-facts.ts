import { writeFileSync } from 'node:fs'
import { factsOf, writtenFacts } from './facts-of.ts'
import { downloadDocument, PUBLISHED_VERSIONS } from './openapi.ts'

/** The file that the gateway reads. */
export const FACTS_FILE = new URL('../../../src/operations/published/facts.json', import.meta.url)

/** Returns the text of the file, from the documents on Maven Central. */
export async function importedFacts(): Promise<string> {
  return writtenFacts(factsOf(await Promise.all(PUBLISHED_VERSIONS.map(downloadDocument))))
}

if (import.meta.main) {
  const text = await importedFacts()
  writeFileSync(FACTS_FILE, text)
  process.stdout.write(`${text.length} characters\n`)
}
