import { readFileSync } from 'node:fs'
import t from 'tap'
import { javaSkip } from '../../support/requirements.ts'
import { FACTS_FILE, importedFacts, RESPONSES_FILE } from './import-facts.ts'

t.test('the files of facts equal the documents on Maven Central', { skip: javaSkip }, async (t) => {
  const { facts, responses } = await importedFacts()
  t.equal(readFileSync(FACTS_FILE, 'utf8'), facts, 'run `npm run import:published`')
  t.equal(readFileSync(RESPONSES_FILE, 'utf8'), responses, 'run `npm run import:published`')
})
