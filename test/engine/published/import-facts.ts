import { writeFileSync } from 'node:fs'
import { factsOf, responsesOf, writtenFacts, writtenResponses } from './facts-of.ts'
import { downloadDocument, PUBLISHED_VERSIONS } from './openapi.ts'

/** The files that the gateway reads. */
export const FACTS_FILE = new URL('../../../src/operations/published/facts.json', import.meta.url)
export const RESPONSES_FILE = new URL('../../../src/operations/published/responses.json', import.meta.url)

/** Returns the texts of both files, from the documents on Maven Central. */
export async function importedFacts(): Promise<{ readonly facts: string; readonly responses: string }> {
  const documents = await Promise.all(PUBLISHED_VERSIONS.map(downloadDocument))
  return { facts: writtenFacts(factsOf(documents)), responses: writtenResponses(responsesOf(documents)) }
}

if (import.meta.main) {
  const { facts, responses } = await importedFacts()
  writeFileSync(FACTS_FILE, facts)
  writeFileSync(RESPONSES_FILE, responses)
  process.stdout.write(`${facts.length + responses.length} characters\n`)
}
